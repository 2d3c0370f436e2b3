// The names of the states, the levels of causes and the kinds of timeline entries of incidents. [contract 10.states]
import type { IncidentDetails, ListedIncident } from './incident.ts'

const stateNames: Readonly<Record<ListedIncident['state'], string>> = {
  OPEN: 'Open',
  ACKNOWLEDGED: 'Acknowledged',
  RESOLVED: 'Resolved',
  MERGED: 'Merged',
}
export const stateName = (state: ListedIncident['state']): string => stateNames[state]

/** "Acknowledged by Nora". */
export const stateText = ({ state, acknowledgedBy }: ListedIncident): string =>
  state === 'ACKNOWLEDGED' && acknowledgedBy ? `${stateNames[state]} by ${acknowledgedBy.name}` : stateNames[state]

export const causeLevelNames: Readonly<Record<ListedIncident['cause']['level'], string>> = {
  ENDPOINT: 'Device',
  ROOM: 'Room',
  LOCATION: 'Location',
  GATEWAY: 'Gateway',
  ORGANISATION: 'Organisation',
  MODEL: 'Model',
  PROFILE: 'Profile',
  CHANNEL: 'Notification channel',
  JOB: 'Job',
}

export const timelineNames: Readonly<Record<IncidentDetails['timeline'][number]['kind'], string>> = {
  OPENED: 'Opened',
  JOINED: 'More devices affected',
  LEFT: 'Some recovered',
  SEVERITY: 'Severity changed',
  ACKNOWLEDGED: 'Acknowledged',
  UNACKNOWLEDGED: 'Unacknowledged',
  ASSIGNED: 'Assigned',
  UNASSIGNED: 'Unassigned',
  SNOOZED: 'Snoozed',
  WOKEN: 'Snooze ended',
  COMMENT: 'Comment',
  RESOLVED: 'Resolved',
  REOPENED: 'Reopened',
  MERGED: 'Merged into a larger incident',
  SPLIT: 'Split into smaller incidents',
  FLAPPING: 'Flapping; messages paused',
}

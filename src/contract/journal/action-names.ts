// Names the actions of audit entries in the words of the console: people, settings, restarts.
import { humanize } from '../words.ts'

/** The names of actions whose id uses other words than the console. */
const actionNames: Readonly<Record<string, string>> = {
  DELIVERIES_REPLAYED: 'Messages sent again',
  DEVICE_CONFIG_CHANGED: 'Device settings changed',
  DEVICE_REBOOT_REQUESTED: 'Device restart requested',
  IDENTITY_TESTED: 'Company sign-in tested',
  IDENTITY_UPDATED: 'Company sign-in changed',
  INCIDENT_WOKEN: 'Incident snooze ended',
  JOB_ROLLED_BACK: 'Job undone',
  LOGIN_LINK_CREATED: 'Sign-in link created',
  ORG_CREATED: 'Organisation created',
  ORG_UPDATED: 'Organisation updated',
  SESSION_ENDED: 'Signed out',
  SESSION_REVOKED: 'Session ended',
  SESSION_STARTED: 'Signed in',
  SOURCE_CREATED: 'Source connected',
  SOURCE_DEVICES_UPDATED: 'Devices of a source put into rooms or excluded',
  SOURCE_LINKED: 'Source linked to sites and rooms',
  USER_CREATED: 'Person added',
  USER_DELETED: 'Person deleted',
  USER_INVITED: 'Person invited',
  USER_LINKED: 'Company account added',
  USER_UNLINKED: 'Ways to sign in removed',
  USER_UPDATED: 'Person updated',
}

export const actionName = (type: string): string => actionNames[type] ?? humanize(type)

// Defines the tasks on an incident that have a dialog.
import type { ListedIncident } from '../incident.ts'

export type IncidentTask = 'restart' | 'snooze' | 'note' | 'resolve' | 'assign'

export type StartIncidentTask = (task: IncidentTask | 'acknowledge' | 'unacknowledge', incident: ListedIncident) => void

/** The properties of the form of every task. */
export interface IncidentFormProps {
  readonly incident: ListedIncident
  readonly onClose: () => void
}

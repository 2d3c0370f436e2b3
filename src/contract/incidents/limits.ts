// Limits of incidents, silences and channels that both the service and the console check.
import { dayMs } from '../durations.ts'

/** The limit of a note of a room, and of a note or comment about an incident. */
export const maxNoteCharacters = 4096
export const maxSnoozeDays = 30
/** Longer silences need the scope write. */
export const maxOperatorSilenceMs = dayMs
/** The limit of the times after which a rule opens and ends incidents. */
export const maxRuleMinutes = 43_200
export const maxMailAddresses = 30
export const maxHeartbeatMinutes = 10_080
/** Two secrets of a webhook sign for this long after a rotation. */
export const defaultOverlapHours = 24
export const maxOverlapHours = 168

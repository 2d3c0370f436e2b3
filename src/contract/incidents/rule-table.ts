// The rules that open and end incidents, each with all of its properties. All of them are on by default. [contract 10.rule]
import { dayMs, hourMs, minuteMs } from '../durations.ts'

export const severities = ['INFO', 'WARNING', 'CRITICAL'] as const
export type Severity = (typeof severities)[number]
export const isAtLeast = (severity: Severity, least: Severity): boolean =>
  severities.indexOf(severity) >= severities.indexOf(least)

/** Says by which of their attributes the findings of a rule share an incident. */
type Grouping =
  | 'place'
  | 'endpoint'
  | 'room'
  | 'location'
  | 'model'
  | 'model and fault'
  | 'profile'
  | 'organisation'
  | 'channel'
  | 'job'
  | 'source'

export type SubjectType = 'endpoint' | 'room' | 'channel' | 'organisation' | 'job'

export interface IncidentRule {
  /** Completes the sentence "An incident opens when …". Names in braces stand for the numbers of the rule. */
  readonly opens: string
  /** Completes the sentence "It ends when …". */
  readonly ends: string
  readonly severity: Severity
  readonly groupedBy: Grouping
  /** The condition must hold this long before an incident opens. */
  readonly holdMs: number
  /** The opposite must hold this long before the incident ends. */
  readonly clearMs: number
  /** The numbers of the condition, by name. */
  readonly limits: Readonly<Record<string, number>>
  /** Each finding of the rule is about one thing of this type. */
  readonly subject: SubjectType
  /** Checked every second. The other rules are checked every minute, and when a condition will have lasted long enough. */
  readonly isCheckedEverySecond: boolean
  /** No table records when the condition starts or ends; the check that first sees it counts, and downtime does not. */
  readonly isTimedByChecks: boolean
  /** About the connection of a device. Ignored until the service has settled after a start. A job ignores it while the device's location has an outage. */
  readonly isAboutConnection: boolean
  /** An incident of WARNING or worse makes a soaking room of a job unhealthy. */
  readonly countsAgainstJob: boolean
  /** A new attempt reopens an incident that a person resolved. */
  readonly reopensOnNewAttempt: boolean
  /** Protects against attacks or reports on the service itself; changing or silencing it needs manage. */
  readonly isSecurity: boolean
}

export const incidentRules = {
  'device.offline': {
    opens:
      'a device that was connected before is not connected, and is not restarting, updating, or asleep for less than {sleepsAtMostHours} hours',
    ends: 'it is connected again',
    severity: 'WARNING',
    groupedBy: 'place',
    holdMs: 5 * minuteMs,
    clearMs: 2 * minuteMs,
    limits: { sleepsAtMostHours: 336 },
    subject: 'endpoint',
    isCheckedEverySecond: true,
    isTimedByChecks: false,
    isAboutConnection: true,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'device.flapping': {
    opens: 'a device disconnects {disconnects} times in {withinMinutes} minutes',
    ends: 'it has not disconnected for {clearMinutes} minutes',
    severity: 'WARNING',
    groupedBy: 'endpoint',
    holdMs: 0,
    clearMs: hourMs,
    limits: { disconnects: 6, withinMinutes: 60 },
    subject: 'endpoint',
    isCheckedEverySecond: true,
    isTimedByChecks: false,
    isAboutConnection: true,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'config.rejected': {
    opens: 'a device rejected a setting',
    ends: 'it confirms its settings',
    severity: 'WARNING',
    groupedBy: 'profile',
    holdMs: minuteMs,
    clearMs: 0,
    limits: {},
    subject: 'endpoint',
    isCheckedEverySecond: true,
    isTimedByChecks: false,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'config.undelivered': {
    opens: 'a device is connected and has not confirmed its settings',
    ends: 'it confirms its settings',
    severity: 'WARNING',
    groupedBy: 'model',
    holdMs: 15 * minuteMs,
    clearMs: 0,
    limits: {},
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: false,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'air.beyond': {
    opens: 'the air of a room is outside the air limits',
    ends: 'it is inside by {marginPercent} % of the limit',
    severity: 'INFO',
    groupedBy: 'room',
    holdMs: 15 * minuteMs,
    clearMs: 15 * minuteMs,
    limits: { marginPercent: 5 },
    subject: 'room',
    isCheckedEverySecond: false,
    isTimedByChecks: true,
    isAboutConnection: false,
    countsAgainstJob: false,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'room.crowded': {
    opens: 'more people are in a room than its capacity',
    ends: 'the room is within its capacity',
    severity: 'INFO',
    groupedBy: 'room',
    holdMs: 10 * minuteMs,
    clearMs: 10 * minuteMs,
    limits: {},
    subject: 'room',
    isCheckedEverySecond: false,
    isTimedByChecks: true,
    isAboutConnection: false,
    countsAgainstJob: false,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'sensor.silent': {
    opens: 'a connected device that sent samples within {withinDays} days has sent none for {holdMinutes} minutes',
    ends: 'it sends a sample',
    severity: 'INFO',
    groupedBy: 'model',
    holdMs: hourMs,
    clearMs: 0,
    limits: { withinDays: 7 },
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: false,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'storage.low': {
    opens: 'a device has less than {opensBelowPercent} % free storage',
    ends: 'it has at least {endsAtPercent} % again',
    severity: 'WARNING',
    groupedBy: 'endpoint',
    holdMs: 30 * minuteMs,
    clearMs: 0,
    limits: { opensBelowPercent: 10, endsAtPercent: 15 },
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: true,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'device.fault': {
    opens: 'a connected device reports a fault of the level WARNING or CRITICAL',
    ends: 'it no longer reports the fault, or reports it as INFO',
    severity: 'WARNING',
    groupedBy: 'model and fault',
    holdMs: 2 * minuteMs,
    clearMs: 5 * minuteMs,
    limits: {},
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: true,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'peripheral.missing': {
    opens:
      'a peripheral that was connected for {connectedMinutes} minutes within {rememberedDays} days is absent or not connected, while its device is connected',
    ends: 'it is connected again',
    severity: 'WARNING',
    groupedBy: 'room',
    holdMs: 10 * minuteMs,
    clearMs: 2 * minuteMs,
    limits: { connectedMinutes: 60, rememberedDays: 7 },
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: true,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'gateway.device': {
    opens:
      'a device of a gateway refuses the password, has another certificate or serial number, is enrolled elsewhere, or was never reached, while its gateway is connected',
    ends: 'the gateway manages the device, or the device is removed from the gateway',
    severity: 'WARNING',
    groupedBy: 'endpoint',
    holdMs: 10 * minuteMs,
    clearMs: 0,
    limits: {},
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: false,
    isAboutConnection: false,
    countsAgainstJob: false,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'source.failing': {
    opens: 'a gateway that is connected cannot read one of its sources',
    ends: 'the gateway reads the source again, or the source is removed',
    severity: 'WARNING',
    groupedBy: 'source',
    holdMs: 10 * minuteMs,
    clearMs: 2 * minuteMs,
    limits: {},
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: false,
    isAboutConnection: false,
    countsAgainstJob: false,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'firmware.behind': {
    opens: 'a device does not have the latest firmware version',
    ends: 'it has the latest firmware version',
    severity: 'INFO',
    groupedBy: 'model',
    holdMs: 14 * dayMs,
    clearMs: 0,
    limits: {},
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: true,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'clock.unreachable': {
    opens: 'a device does not reach its time server',
    ends: 'it reaches its time server',
    severity: 'INFO',
    groupedBy: 'location',
    holdMs: hourMs,
    clearMs: 0,
    limits: {},
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: true,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
  'credential.refused': {
    opens: '{attempts} wrong credentials for one device are refused in {withinMinutes} minutes',
    ends: 'none has been refused for {clearMinutes} minutes',
    severity: 'WARNING',
    groupedBy: 'endpoint',
    holdMs: 0,
    clearMs: hourMs,
    limits: { attempts: 5, withinMinutes: 10 },
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: false,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: true,
    isSecurity: true,
  },
  'credential.shared': {
    opens:
      'the connection of a device was taken over {takeOvers} times in {withinMinutes} minutes from {addresses} addresses',
    ends: 'this did not happen for {clearMinutes} minutes',
    severity: 'WARNING',
    groupedBy: 'endpoint',
    holdMs: 0,
    clearMs: hourMs,
    limits: { takeOvers: 6, addresses: 2, withinMinutes: 10 },
    subject: 'endpoint',
    isCheckedEverySecond: false,
    isTimedByChecks: false,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: true,
    isSecurity: true,
  },
  'certificate.expiring': {
    opens: 'the TLS certificate of this service ends in less than {days} days',
    ends: 'it is renewed',
    severity: 'WARNING',
    groupedBy: 'organisation',
    holdMs: 0,
    clearMs: 0,
    limits: { days: 21, criticalDays: 7 },
    subject: 'organisation',
    isCheckedEverySecond: true,
    isTimedByChecks: false,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: true,
  },
  'channel.failing': {
    opens: 'a message waits for a channel, and nothing was delivered',
    ends: 'a message is delivered',
    severity: 'WARNING',
    groupedBy: 'channel',
    holdMs: hourMs,
    clearMs: 0,
    limits: {},
    subject: 'channel',
    isCheckedEverySecond: false,
    isTimedByChecks: false,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: true,
  },
  'job.stopped': {
    opens: 'a job was stopped because too many of its rooms failed',
    ends: 'the job is resumed or has ended',
    severity: 'WARNING',
    groupedBy: 'job',
    holdMs: 0,
    clearMs: 0,
    limits: {},
    subject: 'job',
    isCheckedEverySecond: true,
    isTimedByChecks: false,
    isAboutConnection: false,
    countsAgainstJob: true,
    reopensOnNewAttempt: false,
    isSecurity: false,
  },
} as const satisfies Readonly<Record<string, IncidentRule>>

export type RuleId = keyof typeof incidentRules
export const ruleIds = Object.keys(incidentRules) as RuleId[]
export const isSecurityRule = (id: RuleId): boolean => incidentRules[id].isSecurity

type LimitsOf<R> = R extends { readonly limits: infer L } ? keyof L : never
export type LimitName = LimitsOf<(typeof incidentRules)[RuleId]>

/** The values that an organisation may give to a limit. */
export const limitRanges: Readonly<Record<LimitName, { readonly min: number; readonly max: number }>> = {
  sleepsAtMostHours: { min: 1, max: 8760 },
  disconnects: { min: 2, max: 1000 },
  withinMinutes: { min: 1, max: 1440 },
  marginPercent: { min: 0, max: 50 },
  withinDays: { min: 1, max: 30 },
  connectedMinutes: { min: 1, max: 1440 },
  rememberedDays: { min: 1, max: 30 },
  opensBelowPercent: { min: 1, max: 99 },
  endsAtPercent: { min: 1, max: 100 },
  attempts: { min: 1, max: 1000 },
  takeOvers: { min: 2, max: 1000 },
  addresses: { min: 2, max: 100 },
  days: { min: 1, max: 365 },
  criticalDays: { min: 0, max: 365 },
}

/** Fills the numbers of a rule in its texts: the defaults, or those of an organisation. */
export function withNumbers(text: string, rule: Pick<IncidentRule, 'holdMs' | 'clearMs' | 'limits'>): string {
  const { holdMs, clearMs, limits } = rule
  const numbers = { ...limits, holdMinutes: holdMs / minuteMs, clearMinutes: clearMs / minuteMs }
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(numbers[name as keyof typeof numbers]))
}

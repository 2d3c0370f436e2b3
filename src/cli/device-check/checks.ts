// The table of checks: what the protocol expects of a device, where its document says so, and how the facts are judged.
import { type DeviceAction, defaultActions } from '../../contract/device/models.ts'
import { keepAliveSeconds } from '../../contract/device/protocol.ts'
import { commandTrials } from './commands.ts'
import {
  accepted,
  type Connection,
  downOf,
  type Facts,
  messagesOf,
  type Return,
  type SeenUp,
  statusOf,
} from './facts.ts'
import { allSteps, type Step } from './steps.ts'
import { type DeviceVerdict, neverSeen, right, wrong } from './verdict.ts'

export interface Check {
  readonly id: string
  readonly step: Step
  /** A heading of docs/device-protocol.md. */
  readonly section: string
  readonly expects: string
  /** The remedy, if the verdict is wrong. */
  readonly advice: string
  /** Called only if the step was walked. */
  judge(facts: Facts): DeviceVerdict
}

/** The back-off waits at least half of 1 s, 2 s, 4 s and so on. A tenth is allowed for measuring. */
const minWaitMs = (failures: number) => Math.min(60_000, 1_000 * 2 ** failures) * 0.45
/** The longest wait, and a tenth for measuring. */
const maxWaitMs = 66_000
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

function judgeWaits({ waitsMs }: Return): DeviceVerdict {
  const seen = `It waited ${waitsMs.map(seconds).join(', then ')}.`
  if (waitsMs.some((wait, failures) => wait < minWaitMs(failures)))
    return wrong(`${seen} At least ${waitsMs.map((_, n) => seconds(minWaitMs(n) / 0.9)).join(', then ')} is asked for.`)
  return waitsMs.some((wait) => wait > maxWaitMs) ? wrong(`${seen} At most 60 s is asked for.`) : right(seen)
}

const judgeReturn = (returned: Return, what: string): DeviceVerdict =>
  returned.connection ? right() : wrong(`It did not connect again after ${what}.`)

/** The device reports its config first, then its status, and subscribes after both. */
function judgeOrder({ up }: Connection): string | undefined {
  const before = up.filter(({ isBeforeSubscribe }) => isBeforeSubscribe).map(({ kind }) => kind)
  if (up[0]?.kind !== 'config') return `Its first message was ${up[0] ? `up/${up[0].kind}` : 'none'}, not up/config.`
  if (!before.includes('config') || !before.includes('status'))
    return `Before SUBSCRIBE it sent ${before.map((kind) => `up/${kind}`).join(', ') || 'nothing'}.`
  return undefined
}

const keysOf = (message: SeenUp | undefined): string[] =>
  typeof message?.body === 'object' && message.body !== null ? Object.keys(message.body) : []

const reportOf = (facts: Facts, name: string) => {
  const command = facts.staged.get(name)
  return command && { command, states: command.reports.map(({ message }) => message.body?.state as string) }
}

const unexpectedEnd = ({ endedBy, endReason, up, endedAtMs, openedAtMs }: Connection): string => {
  const who = endedBy === 'device' ? 'The device ended a connection' : 'The service ended a connection'
  const last = up.at(-1)
  const after = `${seconds((endedAtMs ?? 0) - openedAtMs)} after CONNECT`
  return `${who} ${after}${last ? `; its last message was up/${last.kind}` : ''}. ${endReason ?? ''}`.trim()
}

const fixedChecks: readonly Check[] = [
  {
    id: 'enrolment.request',
    step: 'enrolment',
    section: 'Enrolment',
    expects: 'It enrols with the code, its serial and its model.',
    advice: 'POST JSON to {address}/device/v1/enrol, with Content-Type application/json.',
    judge({ enrolments }) {
      const refused = enrolments.find(({ isStaged, status }) => !isStaged && status !== 200)
      if (refused) return wrong(`The service answered ${refused.status}: ${refused.message}`)
      if (enrolments.some(({ isStaged }) => !isStaged)) return right()
      return wrong(enrolments.length > 0 ? 'It did not enrol.' : 'No device asked for an enrolment.')
    },
  },
  {
    id: 'enrolment.retry',
    step: 'enrolment',
    section: 'When enrolment fails',
    expects: 'After a 503 it waits for the seconds in Retry-After, then enrols again by itself.',
    advice: 'Read Retry-After of 409, 429 and 503, wait that long, and send the same request again.',
    judge({ enrolments }) {
      const [staged, next] = enrolments
      if (!staged) return neverSeen('No device asked for an enrolment.')
      if (!next) return wrong('It did not try again.')
      const waitedMs = next.atMs - staged.atMs
      return waitedMs < retryAfterSeconds * 950
        ? wrong(`It tried again after ${seconds(waitedMs)}; Retry-After was ${retryAfterSeconds} s.`)
        : right(`It waited ${seconds(waitedMs)}.`)
    },
  },
  {
    id: 'connection.accepted',
    step: 'connection',
    section: 'Connection',
    expects: 'It connects with the endpoint ID as user name and the credential as password, and gets CONNACK 0.',
    advice: `Check user name, password and keep-alive (${keepAliveSeconds.min} to ${keepAliveSeconds.max} s) of CONNECT.`,
    judge({ connections, endpointId }) {
      const refused = connections.find(
        ({ isStaged, connack, endedAtMs }) => !isStaged && connack !== 0 && endedAtMs !== undefined,
      )
      if (refused?.connack !== undefined)
        return wrong(
          `The service answered CONNACK ${refused.connack} to the user name ${refused.username || '(none)'}.`,
        )
      if (refused) return wrong(unexpectedEnd(refused))
      return connections.some(({ username }) => username === endpointId) ? right() : wrong('It did not connect.')
    },
  },
  {
    id: 'connection.reports',
    step: 'connection',
    section: 'Connection',
    expects: 'On each connection it reports its config, then its status, and only then subscribes.',
    advice: 'Publish up/config and up/status right after CONNACK, then send SUBSCRIBE.',
    judge(facts) {
      const subscribed = accepted(facts).filter(({ subscriptions }) => subscriptions.length > 0)
      if (subscribed.length === 0) return neverSeen('It never subscribed.')
      const problem = subscribed.map(judgeOrder).find((found) => found !== undefined)
      return problem === undefined ? right(`On all of its ${subscribed.length} connections.`) : wrong(problem)
    },
  },
  {
    id: 'connection.subscribes',
    step: 'connection',
    section: 'Connection',
    expects: 'It subscribes once, to v1/{endpointId}/down/# with QoS 1.',
    advice: 'Send one SUBSCRIBE with that topic filter on every connection: no session is kept.',
    judge(facts) {
      const first = accepted(facts)[0]
      if (!first) return neverSeen('It never connected.')
      const asked = first.subscriptions.map(({ topic, qos }) => `${topic} with QoS ${qos}`).join(', ')
      if (asked === '') return wrong('It did not subscribe.')
      const isRight = first.subscriptions.length === 1 && asked === `v1/${first.username}/down/# with QoS 1`
      return isRight ? right() : wrong(`It subscribed to ${asked}.`)
    },
  },
  {
    id: 'connection.qos',
    step: 'connection',
    section: 'Topics, acknowledgements and limits',
    expects: 'It publishes with QoS 1.',
    advice: 'Use QoS 1: a message with QoS 0 is lost when the service is busy, without a sign.',
    judge({ connections }) {
      const messages = connections.flatMap(({ up }) => up)
      const weak = messages.find(({ qos }) => qos === 0)
      if (messages.length === 0) return neverSeen('It published nothing.')
      return weak ? wrong(`It published up/${weak.kind} with QoS 0.`) : right()
    },
  },
  {
    id: 'connection.stays',
    step: 'connection',
    section: 'Topics, acknowledgements and limits',
    expects: 'Its connection lasts until it is closed on purpose.',
    advice:
      'Publish below your own up/ and subscribe below your own down/ only, and send PINGREQ in time: anything else ends the connection.',
    judge(facts) {
      const connections = accepted(facts)
      const lost = connections.find(({ endedAtMs, isEndExpected }) => endedAtMs !== undefined && !isEndExpected)
      if (connections.length === 0) return neverSeen('It never connected.')
      return lost ? wrong(unexpectedEnd(lost)) : right()
    },
  },
  {
    id: 'messages.accepted',
    step: 'connection',
    section: 'Bad messages',
    expects: 'The service refuses none of its messages.',
    advice: 'Correct the field that is named. device-messages.json has the JSON Schema of every message.',
    judge(facts) {
      const refused = downOf(facts, 'message-refused').find(({ body }) => body?.by !== 'device-check')?.body
      return refused ? wrong(`up/${refused.kind} ${refused.field}: ${refused.reason}`) : right()
    },
  },
  {
    id: 'messages.keys',
    step: 'connection',
    section: 'Unknown keys',
    expects: 'The service knows all keys of its messages, or they are the maker’s own.',
    advice: 'Compare the spelling with the tables of the document.',
    judge(facts) {
      const ignored = downOf(facts, 'keys-ignored').filter(({ body }) => body?.by !== 'device-check')
      const named = ignored.map(({ body }) => `${body.keys.join(', ')} of up/${body.kind}`)
      return named.length === 0
        ? right()
        : right(`The service ignores ${[...new Set(named)].join('; ')}. Check the spelling, unless they are your own.`)
    },
  },
  {
    id: 'samples.accepted',
    step: 'samples',
    section: 'Samples',
    expects: 'It sends samples, and the service stores all of them.',
    advice: 'The reason names the value and its range. Do not send refused samples again.',
    judge(facts) {
      const refused = downOf(facts, 'sample-refused').find(({ body }) => body?.by !== 'device-check')?.body.refused[0]
      if (refused) return wrong(refused.reason)
      if (messagesOf(facts, 'sample').length > 0) return right()
      return neverSeen(`No sample within ${facts.samplesWaitedSeconds} s. A device without sensors sends none.`)
    },
  },
  {
    id: 'samples.time',
    step: 'samples',
    section: 'Samples',
    expects:
      'Samples carry the time of the measurement, in whole Unix seconds, from a clock that is right to a minute.',
    advice: 'Set the clock with NTP, and put the time of the measurement into the sample, not the time of sending.',
    judge(facts) {
      const [first] = messagesOf(facts, 'sample')
      const times: number[] = (first?.body?.samples ?? []).map(({ timestamp }: { timestamp: number }) => timestamp)
      if (!first || times.length === 0) return neverSeen('No sample was sent.')
      const ahead = Math.max(...times) - (Date.now() - (performance.now() - first.atMs)) / 1000
      if (Math.abs(ahead) <= 60) return right()
      if (ahead > 1e11) return wrong(`Its newest timestamp was ${Math.max(...times)}. Is that in milliseconds?`)
      const off = `${Math.round(Math.abs(ahead))} s`
      return wrong(
        `Its newest timestamp was ${Math.max(...times)}: ${off} ${ahead > 0 ? 'ahead of' : 'behind'} the time.`,
      )
    },
  },
  {
    id: 'samples.units',
    step: 'samples',
    section: 'Samples',
    expects: 'Values have the units of the table: °C, %rH, ppm, ppb, lux.',
    advice: 'Convert before you send: temperature to °C, humidity to per cent from 0 to 100.',
    judge(facts) {
      const samples = messagesOf(facts, 'sample').flatMap(({ body }) => body?.samples ?? [])
      if (samples.length === 0) return neverSeen('No sample was sent.')
      const hot = samples.find(({ temp }) => temp > 50)
      if (hot) return wrong(`temp ${hot.temp} is not the air of a room in °C. Is it °F?`)
      const dry = samples.find(({ humidity }) => humidity > 0 && humidity <= 1)
      return dry ? wrong(`humidity ${dry.humidity} is not %rH. Is it a share from 0 to 1?`) : right()
    },
  },
  {
    id: 'reconnect.returns',
    step: 'reconnect',
    section: 'The life of a device',
    expects: 'It connects again after the connection was cut and after CONNACK 3 (“not now”).',
    advice: 'Keep trying without a limit. CONNACK 3 means later, never give up.',
    judge: ({ reconnect }) => (reconnect ? judgeReturn(reconnect, 'a cut and a CONNACK 3') : neverSeen('Not tried.')),
  },
  {
    id: 'reconnect.waits',
    step: 'reconnect',
    section: 'Back-off',
    expects: 'It waits longer after each failure: at least 0.5 s, 1 s, 2 s and so on, at most 60 s.',
    advice:
      'Wait min(60 s, 1 s * 2^n) * random between 0.5 and 1. n returns to 0 when a connection has lasted a minute.',
    judge: ({ reconnect }) => (reconnect?.connection ? judgeWaits(reconnect) : neverSeen('It did not come back.')),
  },
  {
    id: 'reconnect.status',
    step: 'reconnect',
    section: 'Status',
    expects: 'After each connect it sends all fields that it knows, not only changes.',
    advice: 'Send the whole status on each connection: the service can have missed changes.',
    judge(facts) {
      const [first] = accepted(facts)
      const again = facts.reconnect?.connection
      const status = (of: Connection | undefined) => of?.up.find(({ kind }) => kind === 'status')
      if (!again) return neverSeen('It did not come back.')
      if (!status(again)) return wrong('It sent no status on its second connection.')
      const missing = keysOf(status(first)).filter((key) => !keysOf(status(again)).includes(key))
      return missing.length === 0 ? right() : wrong(`Its second connection did not name ${missing.join(', ')}.`)
    },
  },
  {
    id: 'outage.returns',
    step: 'outage',
    section: 'The life of a device',
    expects: 'It connects again after the service was stopped and started.',
    advice: 'A connection that ends without a CONNACK counts like CONNACK 3: wait and try again.',
    judge: ({ outage }) => (outage ? judgeReturn(outage, 'the restart') : neverSeen('Not tried.')),
  },
  {
    id: 'outage.identity',
    step: 'outage',
    section: 'Connection',
    expects: 'After CONNACK 5 (“not known”) it keeps endpoint ID and credential, and tries again.',
    advice: 'Delete the credential after UNENROL only. Restored databases answer 5 for a while.',
    judge({ outage, enrolments, connections }) {
      if (!outage?.connection) return neverSeen('It did not come back.')
      const refusedAt = connections.find(({ connack, isStaged }) => isStaged && connack === 5)?.endedAtMs
      if (refusedAt === undefined) return neverSeen('It came back before CONNACK 5 could be sent.')
      return enrolments.some(({ atMs }) => atMs > refusedAt) ? wrong('It enrolled again instead.') : right()
    },
  },
  {
    id: 'outage.waits',
    step: 'outage',
    section: 'Back-off',
    expects: 'It waits longer after each failure while the service is away.',
    advice: 'Count failures over all causes: a refused TCP connection, no answer, CONNACK 3 and 5.',
    judge: ({ outage }) => (outage?.connection ? judgeWaits(outage) : neverSeen('It did not come back.')),
  },
  {
    id: 'config.applied',
    step: 'config',
    section: 'Config',
    expects: 'It applies a setting and reports the version with the new value, or rejects the key with a reason.',
    advice: 'Report up/config with the received version, all settings as they are now, and `rejected` for the rest.',
    judge: (facts) => judgeChange(facts, 'set'),
  },
  {
    id: 'config.rejected',
    step: 'config',
    section: 'Config',
    expects: 'A key that it does not have goes into `rejected` with a reason.',
    advice: 'Compare the keys of `config` with the settings of the device, and name those that it does not have.',
    judge: (facts) => judgeChange(facts, 'foreign'),
  },
  {
    id: 'config.unset',
    step: 'config',
    section: 'Config',
    expects: 'A key that is absent from the next version goes back to its default.',
    advice: 'down/config is the whole desired state. Reset every key that it does not name.',
    judge: (facts) => judgeChange(facts, 'unset'),
  },
  {
    id: 'config.passwords',
    step: 'config',
    section: 'Config',
    expects: 'It never reports a password.',
    advice: 'Leave settingsPassword and remoteAccessAdminPassword out of every report.',
    judge(facts) {
      const { config, connections } = facts
      if (!config || config.skipped !== undefined) return neverSeen(config?.skipped ?? 'Not tried.')
      const leak = connections.flatMap(({ up }) => up).find(({ text }) => text.includes(config.password))
      if (leak) return wrong(`up/${leak.kind} had the password in it.`)
      const { configKeys } = statusOf(facts)
      const isSent = !Array.isArray(configKeys) || configKeys.includes('settingsPassword')
      return isSent ? right() : neverSeen('The device says in `configKeys` that it has no password.')
    },
  },
  {
    id: 'config.remembered',
    step: 'config',
    section: 'The life of a device',
    expects: 'On later connections it reports the version that it had, even after a reboot.',
    advice: 'Store the version and the rejected keys where they survive a reboot.',
    judge(facts) {
      const { config } = facts
      if (!config || config.lastVersion === 0) return neverSeen(config?.skipped ?? 'It reported no version.')
      const later = accepted(facts).filter(({ openedAtMs, up }) => openedAtMs > config.endedAtMs && up.length > 0)
      if (later.length === 0) return neverSeen('It did not connect again afterwards.')
      const first = later.map(({ up }) => up.find(({ kind }) => kind === 'config')?.body?.version)
      const other = first.find((version) => version !== config.lastVersion)
      return first.every((version) => version === config.lastVersion)
        ? right()
        : wrong(`It reported version ${other}; the last one was ${config.lastVersion}.`)
    },
  },
  {
    id: 'command.twice',
    step: 'commands',
    section: 'Operations',
    expects: 'A command that comes again is not executed again; its outcome is reported again.',
    advice: 'Store the ids and outcomes of the latest 100 commands, and answer a known id from there.',
    judge(facts) {
      const again = reportOf(facts, 'again')
      if (!again) return neverSeen('No command was carried out that could be repeated.')
      const outcome = again.states.find((state) => state !== 'ACKNOWLEDGED')
      return outcome ? right() : wrong('It did not report the outcome of the repeated command.')
    },
  },
  {
    id: 'command.reboot-twice',
    step: 'commands',
    section: 'Operations',
    expects: 'A REBOOT that comes again after it was done does not reboot the device again.',
    advice: 'Store the id of a REBOOT before you reboot: a device that forgets it reboots again and again.',
    judge(facts) {
      const again = reportOf(facts, 'reboot again')
      if (!again) return neverSeen('It did not carry out a REBOOT.')
      if (again.command.isConnectionLost) return wrong('It rebooted again.')
      return again.states.includes('SUCCEEDED') ? right() : wrong('It did not report SUCCEEDED again.')
    },
  },
  {
    id: 'command.expired',
    step: 'commands',
    section: 'Operations',
    expects: 'A command whose deadline has passed is not carried out.',
    advice: 'Compare `deadline` with the clock before anything else, and do nothing if it has passed.',
    judge(facts) {
      const expired = reportOf(facts, 'expired')
      if (!expired) return neverSeen('Not tried.')
      const done = expired.states.find((state) => state === 'SUCCEEDED' || state === 'ACKNOWLEDGED')
      return done ? wrong(`It reported ${done} for a command that had expired an hour ago.`) : right()
    },
  },
  {
    id: 'command.unknown',
    step: 'commands',
    section: 'What may change',
    expects: 'A command of a type that it does not know is reported as FAILED.',
    advice: 'Report FAILED with a sentence in `error` for every type that you do not handle.',
    judge(facts) {
      const unknown = reportOf(facts, 'unknown')
      if (!unknown) return neverSeen('Not tried.')
      const [state = 'nothing'] = unknown.states.filter((one) => one !== 'ACKNOWLEDGED')
      return state === 'FAILED' ? right() : wrong(`It reported ${state}.`)
    },
  },
  {
    id: 'logs.address',
    step: 'commands',
    section: 'Logs',
    expects: 'When an upload is refused with 403 it reports URL_WANTED, and uploads to the new address.',
    advice: 'Report URL_WANTED on up/logs, and carry the command out again when it comes with a new uploadUrl.',
    judge({ uploads, commands }) {
      const logs = commands.get('COLLECT_LOGS')
      const refused = uploads.find(({ isStaged }) => isStaged)
      if (!logs || !refused) return neverSeen(logs?.skipped ?? 'No logs were uploaded.')
      const wanted = logs.reports.some(({ message }) => message.body?.state === 'URL_WANTED')
      return wanted ? right() : wrong('It did not report URL_WANTED.')
    },
  },
  {
    id: 'answers.ignored',
    step: 'answers',
    section: 'What may change',
    expects: 'Messages and keys that it does not know do not disturb it.',
    advice: 'Ignore topics below down/ that you do not know, and keys that you do not need.',
    judge(facts) {
      const alive = reportOf(facts, 'alive')
      if (!facts.answers || !alive) return neverSeen('Not tried.')
      if (alive.command.isConnectionLost) return wrong('Its connection ended.')
      return alive.states.length > 0 ? right() : wrong('It no longer answered commands afterwards.')
    },
  },
  {
    id: 'answers.no-loop',
    step: 'answers',
    section: 'Bad messages',
    expects: 'It does not send a refused message or sample again.',
    advice: 'Write down/message-refused and down/sample-refused into the log, and do nothing else.',
    judge({ answers, connections }) {
      if (!answers) return neverSeen('Not tried.')
      const later = connections.flatMap(({ up }) =>
        up.filter(({ atMs }) => atMs > answers.fromMs && atMs < answers.untilMs),
      )
      if (answers.refused && later.some(({ text }) => text === answers.refused?.text))
        return wrong(`It sent the refused up/${answers.refused.kind} again.`)
      const stamp = answers.refusedTimestamp
      const isAgain = ({ body }: SeenUp) =>
        (body?.samples ?? []).some(({ timestamp }: { timestamp: number }) => timestamp === stamp)
      if (stamp !== undefined && later.some((message) => message.kind === 'sample' && isAgain(message)))
        return wrong('It sent the refused sample again.')
      return later.length > 20 ? wrong(`It sent ${later.length} messages within seconds.`) : right()
    },
  },
  {
    id: 'takeover.waits',
    step: 'takeover',
    section: 'Connection',
    expects: 'When another connection replaces its own, it returns with back-off instead of fighting.',
    advice:
      'Treat the end of the connection like any other: wait longer after each one that lasted less than a minute.',
    judge({ takeover }) {
      if (!takeover) return neverSeen('Not tried.')
      return takeover.connection ? judgeWaits(takeover) : wrong('It did not connect again after the other had gone.')
    },
  },
  {
    id: 'acknowledgement.again',
    step: 'acknowledgement',
    section: 'Topics, acknowledgements and limits',
    expects: 'A message without a PUBACK is sent again on the next connection.',
    advice: 'Keep each report and sample until its PUBACK has come, and send it again after a reconnect.',
    judge({ lostAck }) {
      if (!lostAck) return neverSeen('Not tried.')
      const { withheld, return: returned } = lostAck
      if (withheld.length === 0) return neverSeen('It sent nothing whose acknowledgement could be withheld.')
      if (!returned.connection) return wrong('It did not connect again.')
      const lost = withheld.find((message) => !returned.connection?.up.some((other) => isSame(message, other)))
      return lost ? wrong(`up/${lost.kind} was lost: ${lost.text.slice(0, 120)}`) : right()
    },
  },
  {
    id: 'unenrolment.stops',
    step: 'unenrolment',
    section: 'Operations',
    expects: 'On UNENROL it deletes endpoint ID and credential, and does not connect again.',
    advice: 'UNENROL is the only message after which a device forgets who it is.',
    judge({ unenrolled, connections, endpointId }) {
      if (!unenrolled) return neverSeen('Not tried.')
      const back = connections.find(
        ({ openedAtMs, username }) => openedAtMs > unenrolled.atMs && username === endpointId,
      )
      return back
        ? wrong(`It connected again ${seconds(back.openedAtMs - unenrolled.atMs)} later.`)
        : right(`It did not connect for ${unenrolled.watchedSeconds} s.`)
    },
  },
]

/** The time that the staged 503 asks a device to wait. */
export const retryAfterSeconds = 2

/** Whether the device sent a message again: the same report, or a message with all of its samples. */
export function isSame(message: SeenUp, other: SeenUp): boolean {
  if (message.kind !== other.kind) return false
  if (message.kind !== 'sample') return message.body?.id === other.body?.id && message.body?.state === other.body?.state
  const stamps = ({ body }: SeenUp): number[] =>
    (body?.samples ?? []).map(({ timestamp }: { timestamp: number }) => timestamp)
  return stamps(message).every((stamp) => stamps(other).includes(stamp))
}

/** A device that names its settings is sent no others. */
const noForeign = 'The device says in `configKeys` which keys it has, or reports every key that was tried.'

function judgeChange({ config }: Facts, what: 'set' | 'foreign' | 'unset'): DeviceVerdict {
  if (!config || config.skipped !== undefined) return neverSeen(config?.skipped ?? 'Not tried.')
  const change = config.changes.find((one) => one.what === what)
  if (!change) return neverSeen(what === 'foreign' ? noForeign : 'Not tried.')
  const { key, value, before, version, report } = change
  if (!report) return wrong(`Version ${version} was not reported.`)
  const now = report.body.config?.[key]
  const reason = report.body.rejected?.[key]
  if (what === 'unset') {
    if (now === undefined || now === before) return right()
    return wrong(
      `${key} was unset and is still ${JSON.stringify(now)}; before it was set it was ${JSON.stringify(before)}.`,
    )
  }
  if (typeof reason === 'string' && reason !== '') return right(`It rejected ${key}: ${reason}`)
  if (now === undefined) return wrong(`It neither reported ${key} nor named it in \`rejected\`.`)
  return now === value
    ? right(`It set ${key} to ${JSON.stringify(value)}.`)
    : wrong(
        `${key} was to be ${JSON.stringify(value)}: it reported ${JSON.stringify(now)}, and no reason in \`rejected\`.`,
      )
}

const commandChecks = Object.entries(commandTrials).map(
  ([type, row]): Check => ({
    id: `command.${type.toLowerCase().replaceAll('_', '-')}`,
    step: 'commands',
    section: row.section,
    expects: row.expects,
    advice: row.advice,
    judge(facts) {
      const command = facts.commands.get(type)
      if (!command || command.skipped !== undefined) return neverSeen(command?.skipped ?? 'Not tried.')
      return row.judge(command, facts)
    },
  }),
)

export const checks: readonly Check[] = allSteps.flatMap((step) =>
  [...commandChecks, ...fixedChecks].filter((check) => check.step === step),
)

/** Whether the device says that it can do this. */
export function saysItCan(facts: Facts, action: DeviceAction): boolean {
  const { actions } = statusOf(facts)
  return (Array.isArray(actions) ? actions : defaultActions).includes(action)
}

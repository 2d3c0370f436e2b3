// Chooses the messages that are sent next to a channel, and numbers them: reads facts, decides, and writes what was decided. [contract 10.delivery]
import { isOpenState, openStates } from '../../../contract/incidents/states.ts'
import { isoTime } from '../../core/clock.ts'
import type { TelemetryTx } from '../../db/handles.ts'
import type { OrgDatabase } from '../../db/org-database.ts'
import { type CurrentIncident, readCurrentIncidents } from '../../incidents/current-content.ts'
import { lockIncidentsForShare } from '../../incidents/store.ts'
import { messageJson } from '../../journal/outbox/message-size.ts'
import { incidentOrderKey, queueForChannel } from '../../journal/outbox/outbox.ts'
import { inDigest, upsertAnnounced } from './holding/announced-store.ts'
import { type Decision, decide } from './holding/decide.ts'
import { type DeliveryChannel, digestOrderKey, readDeliveryFacts } from './holding/facts.ts'
import type { DeliveryFacts, GatheredOpening } from './holding/waiting.ts'
import type { DigestContent } from './senders/message.ts'
import {
  cancelMessages,
  cancelOutdated,
  cancelUntold,
  type DueRow,
  findNewestMessage,
  listDueMessages,
  listUnnumbered,
  postpone,
  raiseSequence,
  updateFirstAttempts,
} from './store.ts'

/** The `error` of a delivery that was cancelled because its incident ended before the channel was told about it. */
export const endedUntold = 'ended before it was sent'
/** The `error` of a delivery that was cancelled because its incident changed before it was sent. */
const outdatedUnsent = 'outdated before it was sent'

/** More ids would not fit into the largest message. */
const maxIdsInDigest = 1000
const endedStates = ['RESOLVED', 'MERGED'] as const

/** A message with its number in the channel. */
export interface NumberedRow {
  readonly row: DueRow
  readonly sequence: number
}

export interface Batch {
  /** Each chain has messages with one order key, which are sent one after the other. */
  readonly chains: readonly (readonly NumberedRow[])[]
  /** True if there may be more that is due, although the chains are empty. */
  readonly mayHaveMore: boolean
}

interface BatchRequest extends DeliveryChannel {
  readonly limit: number
}

export async function takeBatch(db: OrgDatabase, request: BatchRequest): Promise<Batch> {
  const { channel, now, limit } = request
  const due = await listDueMessages(db, { channel, now, limit })
  if (due.length === 0) return { chains: [], mayHaveMore: false }
  const facts = await readDeliveryFacts(db, request, due)
  const rows = await db.telemetry((tx) => writeDecision(tx, request, facts, decide(facts)))
  const isChosen = new Set(rows.map(({ row }) => row.message))
  const chains = [...Map.groupBy(rows, ({ row }) => row.order_key).values()]
  return { chains, mayHaveMore: due.some(({ message }) => !isChosen.has(message)) }
}

/** Writes what was decided, except about what has changed meanwhile: the next batch decides about that again. Returns what is sent, in order. */
async function writeDecision(
  tx: TelemetryTx,
  { channel, now }: BatchRequest,
  facts: DeliveryFacts<DueRow>,
  { send, nextTimes, untold, outdated, digest }: Decision<DueRow>,
): Promise<NumberedRow[]> {
  // The incidents are locked first, as in all other transactions that write about them.
  const ofAttempts = send.flatMap(({ row, type }) => (showsPresent(row, type) ? (row.incident_id ?? []) : []))
  const ids = [...new Set([...digest.map(({ incident }) => incident), ...ofAttempts])]
  const incidents = await readCurrentIncidents(tx, ids.length > 0 ? await lockIncidentsForShare(tx, { ids }) : [], now)
  for (const incident of untold) {
    await cancelUntold(tx, { channel, incident, orderKey: incidentOrderKey(incident), error: endedUntold })
  }
  for (const { message, incident, isOpen } of outdated) {
    const states = isOpen ? openStates : endedStates
    await cancelOutdated(tx, { channel, message, incident, states, error: outdatedUnsent })
  }
  const postponed = [...facts.due, ...facts.earlier].flatMap(({ message, next_at }) => {
    const nextAt = nextTimes.get(message)
    return nextAt === undefined || next_at === null ? [] : [[message, next_at, nextAt] as const]
  })
  if (postponed.length > 0) await postpone(tx, { channel, rows: postponed })
  const digestRow = await writeDigest(tx, channel, now, digest, incidents)
  const attempts: Attempt[] = []
  for (const { row, type } of send) {
    const attempt = await attemptOf(row, type, incidents)
    if (attempt) attempts.push(attempt)
  }
  const rows = await giveNumbers(
    tx,
    channel,
    digestRow ? [{ row: digestRow, isChanged: false }, ...attempts] : attempts,
  )
  await noteAnnounced(tx, channel, rows, incidents)
  return rows
}

interface Attempt {
  readonly row: DueRow
  /** True if it is not sent as it was written. */
  readonly isChanged: boolean
}

/** An attempt that was interrupted is not counted, so the next one is the first. */
const isFirstAttempt = ({ sequence, attempts, replayed_at }: DueRow): boolean =>
  sequence === null || (attempts === 0 && replayed_at === null)

/** The first attempt shows an incident as it is then, but an end shows how the incident ended, and a message to a person what that person sees. */
const showsPresent = (row: DueRow, type: DueRow['type']): boolean =>
  isFirstAttempt(row) && row.incident_id !== null && type !== 'incident.resolved' && type !== 'incident.assigned'

/** Returns undefined for an opening whose incident has ended since it was read. */
async function attemptOf(
  row: DueRow,
  type: DueRow['type'],
  incidents: ReadonlyMap<number, CurrentIncident>,
): Promise<Attempt | undefined> {
  const incident = showsPresent(row, type) ? incidents.get(row.incident_id as number) : undefined
  if (!incident) return { row, isChanged: false }
  if (!isOpenState(incident.row.state)) {
    const isUnsent = type === 'incident.opened' && row.sequence === null
    return isUnsent ? undefined : { row, isChanged: false }
  }
  return { row: { ...row, type, data: messageJson(await incident.readContent()) }, isChanged: true }
}

/** Returns the digest as a message that is due. */
async function writeDigest(
  tx: TelemetryTx,
  channel: number,
  now: number,
  openings: readonly GatheredOpening[],
  incidents: ReadonlyMap<number, CurrentIncident>,
): Promise<DueRow | undefined> {
  const open = openings.filter(({ incident }) => isOpenState(incidents.get(incident)?.row.state ?? 'RESOLVED'))
  const messages = open.map(({ message }) => message)
  const cancelled = messages.length > 0 ? await cancelMessages(tx, { channel, messages, error: inDigest }) : []
  const taken = new Set(cancelled.map(({ message }) => message))
  const told = open.flatMap(({ message, incident }) => (taken.has(message) ? (incidents.get(incident) ?? []) : []))
  if (told.length === 0) return undefined
  const orderKey = digestOrderKey(channel)
  await queueForChannel(tx, channel, { type: 'incident.digest', orderKey, data: { digest: contentOf(told) }, at: now })
  const row = await findNewestMessage(tx, { channel, orderKey })
  // Only if the channel was deleted meanwhile.
  if (!row) return undefined
  await upsertAnnounced(tx, { channel, rows: told.map(({ row: { id }, size }) => [id, row.message, size] as const) })
  return row
}

function contentOf(told: readonly CurrentIncident[]): DigestContent {
  const times = told.map(({ row }) => row.opened_at)
  return {
    count: told.length,
    from: isoTime(Math.min(...times)),
    to: isoTime(Math.max(...times)),
    bySeverity: countBy(told.map(({ row }) => row.severity)),
    byRule: countBy(told.map(({ row }) => row.rule)),
    incidentIds: told.slice(0, maxIdsInDigest).map(({ row }) => String(row.id)),
  }
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** Notes which incidents the channel knows from now on, and how large they were said to be. */
async function noteAnnounced(
  tx: TelemetryTx,
  channel: number,
  rows: readonly NumberedRow[],
  incidents: ReadonlyMap<number, CurrentIncident>,
): Promise<void> {
  const announced = rows.flatMap(({ row }) => {
    const incident = showsPresent(row, row.type) ? incidents.get(row.incident_id as number) : undefined
    const isAnnouncement = row.type === 'incident.opened' || row.type === 'incident.reopened'
    return incident && isAnnouncement ? [[incident.row.id, row.message, incident.size] as const] : []
  })
  // The last message about an incident counts.
  const unique = [...new Map(announced.map((row) => [row[0], row])).values()]
  if (unique.length > 0) await upsertAnnounced(tx, { channel, rows: unique })
}

/** A number is given at the first attempt, so that cancelled messages leave no gaps. The type and the content of the attempt are stored with it. */
async function giveNumbers(tx: TelemetryTx, channel: number, attempts: readonly Attempt[]): Promise<NumberedRow[]> {
  const messages = attempts.flatMap(({ row }) => (row.sequence === null ? [row.message] : []))
  const unnumbered = messages.length > 0 ? await listUnnumbered(tx, { channel, messages }) : []
  const last = unnumbered.length > 0 ? await raiseSequence(tx, { channel, count: unnumbered.length }) : undefined
  const first = (last?.last_sequence ?? 0) - unnumbered.length + 1
  const given = new Map(last ? unnumbered.map(({ message }, i) => [message, first + i]) : [])
  const numbered = attempts.flatMap(({ row, isChanged }) => {
    const sequence = row.sequence ?? given.get(row.message)
    return sequence === undefined ? [] : [{ row, sequence, isChanged }]
  })
  const stored = numbered
    .filter(({ row, isChanged }) => isChanged || row.sequence === null)
    .map(({ row: { message, type, data }, sequence, isChanged }) =>
      isChanged ? ([message, sequence, type, data] as const) : ([message, sequence, null, null] as const),
    )
  if (stored.length > 0) await updateFirstAttempts(tx, { channel, rows: stored })
  return numbered.toSorted((a, b) => a.row.message - b.row.message)
}

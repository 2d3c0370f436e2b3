// Chooses the messages that are sent next to a channel, and numbers them. [contract 10.delivery]
import type { ChannelKind } from '../../../../contract/incidents/channels.ts'
import type { TelemetryTx } from '../../../db/handles.ts'
import type { OrgDatabase } from '../../../db/org-database.ts'
import { openingDelayMs, queueForChannel } from '../outbox.ts'
import type { ChannelSettings } from '../settings.ts'
import {
  type DigestPlan,
  digestOrderKey,
  endedEarly,
  endedInSilence,
  inDigest,
  planDigest,
  readWaitingDigests,
  type WaitingDigests,
} from './holding/digest.ts'
import { IncidentSchedule } from './holding/incident-schedule.ts'
import {
  cancelEnded,
  cancelMessages,
  type DueRow,
  listDueMessages,
  listUnnumbered,
  listWaitingOf,
  postpone,
  raiseSequence,
  updateSequences,
} from './store.ts'

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

interface BatchRequest {
  readonly channel: number
  readonly kind: ChannelKind
  readonly settings: ChannelSettings
  readonly orgZone: string
  readonly now: number
  readonly limit: number
}

/** Messages that are not sent now: until when they wait, or why they are never sent. */
interface BatchPlan {
  readonly nextTimes: Map<number, number>
  /** Incidents that ended before their first message was sent, by order key, with the error word for their deliveries. */
  readonly endedKeys: ReadonlyMap<string, { readonly incident: number; readonly error: string }>
  readonly digest: DigestPlan | undefined
  readonly waitingDigests: WaitingDigests
}

export async function takeBatch(db: OrgDatabase, request: BatchRequest): Promise<Batch> {
  const { channel, now, limit } = request
  const due = await listDueMessages(db, { channel, now, limit })
  if (due.length === 0) return { chains: [], mayHaveMore: false }
  const plan = await makePlan(db, request, due)
  const isLeftOut = ({ message, order_key, sequence, incident_id }: DueRow) =>
    plan.nextTimes.has(message) ||
    plan.digest?.messages.has(message) ||
    // The digest is sent in the next batch, and everything about its incidents after it.
    (incident_id !== null && plan.digest?.incidentIds?.has(incident_id)) ||
    (sequence === null && plan.endedKeys.has(order_key))
  const ready = due.filter((row) => !isLeftOut(row))
  const sequences = await db.telemetry(async (tx) => {
    await applyPlan(tx, request, plan)
    return giveNumbers(tx, channel, ready)
  })
  const rows = ready.flatMap((row): NumberedRow[] => {
    const sequence = row.sequence ?? sequences.get(row.message)
    return sequence === undefined ? [] : [{ row, sequence }]
  })
  return { chains: chainsOf(rows, channel, plan.waitingDigests), mayHaveMore: ready.length < due.length }
}

async function makePlan(db: OrgDatabase, request: BatchRequest, due: readonly DueRow[]): Promise<BatchPlan> {
  const { channel, kind, settings, orgZone, now } = request
  const facts = await IncidentSchedule.read(db, due, settings, orgZone, now)
  const isOpening = ({ type, sequence }: DueRow) => type === 'incident.opened' && sequence === null
  const endedKeys = new Map(
    due.flatMap((row) => {
      if (row.sequence !== null) return []
      const isShort = isOpening(row) ? facts.hasEndedEarly(row) : facts.wasShort(row)
      const isSilent = !isShort && isOpening(row) && facts.hasEndedInSilence(row)
      const error = isShort ? endedEarly : endedInSilence
      return isShort || isSilent ? [[row.order_key, { incident: row.incident_id ?? 0, error }] as const] : []
    }),
  )
  const nextTimes = await findBehind(db, request, due, facts)
  for (const row of due) {
    if (row.type === 'test' || row.type === 'heartbeat') continue
    const sendableAt = facts.sendableAt(row, now)
    if (sendableAt > now) nextTimes.set(row.message, Math.max(sendableAt, nextTimes.get(row.message) ?? 0))
  }
  const waitingDigests = await readWaitingDigests(db, channel)
  holdBehindDigests(due, waitingDigests, nextTimes)
  // PagerDuty groups alerts by itself, and needs each of them to resolve it.
  const openings = due.filter((row) => isOpening(row) && !endedKeys.has(row.order_key) && !nextTimes.has(row.message))
  const digest = kind === 'pagerduty' ? undefined : await planDigest(db, { channel, settings, orgZone, openings, now })
  return { nextTimes, endedKeys, digest, waitingDigests }
}

/** A message about an incident whose opening is in a digest waits until the digest was sent. */
function holdBehindDigests(due: readonly DueRow[], digests: WaitingDigests, nextTimes: Map<number, number>): void {
  const isDue = new Set(due.map(({ message }) => message))
  for (const { message, incident_id } of due) {
    const digest = digests.find(incident_id)
    const digestAt =
      digest && (nextTimes.get(digest.message) ?? (isDue.has(digest.message) ? undefined : digest.nextAt))
    // One millisecond later it is not found before the digest.
    if (digestAt !== undefined) nextTimes.set(message, Math.max(nextTimes.get(message) ?? 0, digestAt + 1))
  }
}

/**
 * Finds the messages that have to wait because an earlier message about the same subject is not due yet, and until when. The first
 * message of an incident waits longer than later ones, and so does one that failed.
 */
async function findBehind(
  db: OrgDatabase,
  { channel, now }: BatchRequest,
  due: readonly DueRow[],
  facts: IncidentSchedule,
): Promise<Map<number, number>> {
  const isDue = new Set(due.map(({ message }) => message))
  const orderKeys = [...new Set(due.map(({ order_key }) => order_key))]
  const nextTimes = new Map<number, number>()
  for (const earlier of await listWaitingOf(db, { channel, orderKeys, before: Math.max(...isDue) })) {
    if (isDue.has(earlier.message)) continue
    const followers = due.filter(
      ({ message, order_key }) => order_key === earlier.order_key && message > earlier.message,
    )
    // A critical incident ignores the hours of the channel, so the earlier messages about it are due too.
    const isCritical = followers.some(({ incident_id }) => facts.find(incident_id)?.severity === 'CRITICAL')
    const isHeld = earlier.attempts === 0 && earlier.created_at + openingDelayMs <= now
    const nextAt = isCritical && isHeld ? now : (earlier.next_at ?? now)
    if (isCritical && isHeld) nextTimes.set(earlier.message, now)
    for (const { message } of followers) nextTimes.set(message, Math.max(nextTimes.get(message) ?? 0, nextAt))
  }
  return nextTimes
}

async function applyPlan(tx: TelemetryTx, { channel, now }: BatchRequest, plan: BatchPlan): Promise<void> {
  const { nextTimes, endedKeys, digest } = plan
  for (const [orderKey, { incident, error }] of endedKeys) {
    await cancelEnded(tx, { channel, incident, orderKey, until: now, error })
  }
  for (const [nextAt, messages] of byTime(nextTimes)) await postpone(tx, { channel, messages, nextAt })
  if (!digest) return
  const messages = [...digest.messages]
  if (digest.nextAt !== undefined) await postpone(tx, { channel, messages, nextAt: digest.nextAt })
  if (!digest.digest) return
  await cancelMessages(tx, { channel, messages, error: inDigest })
  const data = { digest: digest.digest }
  await queueForChannel(tx, channel, { type: 'incident.digest', orderKey: digestOrderKey(channel), data, at: now })
}

function byTime(nextTimes: ReadonlyMap<number, number>): Map<number, number[]> {
  const messages = new Map<number, number[]>()
  for (const [message, nextAt] of nextTimes) messages.set(nextAt, [...(messages.get(nextAt) ?? []), message])
  return messages
}

/** A number is given at the first attempt, so that cancelled messages leave no gaps. */
async function giveNumbers(
  tx: TelemetryTx,
  channel: number,
  rows: readonly DueRow[],
): Promise<ReadonlyMap<number, number>> {
  const messages = rows.filter(({ sequence }) => sequence === null).map(({ message }) => message)
  if (messages.length === 0) return new Map()
  const unnumbered = await listUnnumbered(tx, { channel, messages })
  const last = await raiseSequence(tx, { channel, count: unnumbered.length })
  if (!last) return new Map()
  const first = last.last_sequence - unnumbered.length + 1
  const numbers = unnumbered.map(({ message }, i) => [message, first + i] as const)
  await updateSequences(tx, { channel, numbers })
  return new Map(numbers)
}

/** Messages about the incidents of a digest follow it in its chain, also those that were written before it. */
function chainsOf(rows: readonly NumberedRow[], channel: number, digests: WaitingDigests): NumberedRow[][] {
  const chains = new Map<string, NumberedRow[]>()
  const isDigest = ({ row }: NumberedRow) => Number(row.type === 'incident.digest')
  for (const numbered of rows.toSorted((a, b) => isDigest(b) - isDigest(a) || a.row.message - b.row.message)) {
    const { incident_id, order_key } = numbered.row
    const key = digests.find(incident_id) ? digestOrderKey(channel) : order_key
    const chain = chains.get(key)
    if (chain) chain.push(numbered)
    else chains.set(key, [numbered])
  }
  return [...chains.values()]
}

// Decides, without a database, which of a channel's waiting messages are sent now, which wait, and which are never sent. [contract 10.delivery]
import type { MessageType } from '../../../../contract/channels/messages.ts'
import { isOpenState } from '../../../../contract/incidents/states.ts'
import { assignmentOrderKey, openingDelayMs } from '../../../journal/outbox/outbox.ts'
import { planDigest } from './digest.ts'
import {
  type DeliveryFacts,
  type GatheredOpening,
  type IncidentFacts,
  messageReadyAt,
  openingReadyAt,
  type WaitingRow,
} from './waiting.ts'

export interface Decision<R extends WaitingRow = WaitingRow> {
  /** Sent now, under this type. */
  readonly send: readonly { readonly row: R; readonly type: MessageType }[]
  /** Messages that wait, with the time at which they are looked at again. */
  readonly nextTimes: ReadonlyMap<number, number>
  /** Incidents that ended before the channel was told about them: everything about them that was never attempted is cancelled. */
  readonly untold: ReadonlySet<number>
  /** Messages that are cancelled only if `isOpen` is still right when the decision is written. */
  readonly outdated: readonly { readonly message: number; readonly incident: number; readonly isOpen: boolean }[]
  /** Openings that are sent together now. */
  readonly digest: readonly GatheredOpening[]
}

export function decide<R extends WaitingRow>(facts: DeliveryFacts<R>): Decision<R> {
  const { due, now, announced } = facts
  const first = firstMessages(facts)
  const untold = new Set<number>()
  const outdated: Decision['outdated'][number][] = []
  const stillTrue = due.filter((row) => {
    const fate = fateOf(row, facts, first)
    const incident = row.incident_id as number
    if (fate === 'untold') untold.add(incident)
    if (fate === 'outdated') outdated.push({ message: row.message, incident, isOpen: isOpen(facts, incident) })
    return fate === 'kept'
  })
  const isOpening = (row: WaitingRow) => announces(row, facts, first)
  const readyAt = (row: WaitingRow) => (isOpening(row) ? openingReadyAt(row, facts) : messageReadyAt(row, facts))
  const nextTimes = new Map<number, number>()
  const sendable: R[] = []
  for (const rows of Map.groupBy(stillTrue, ({ order_key }) => order_key).values()) {
    let waitsUntil = 0
    for (const row of rows.toSorted(byNumber)) {
      const before = facts.earlier.filter((e) => e.order_key === row.order_key && e.message < row.message)
      for (const earlier of before) {
        // The reason to hold it may be over: the incident became critical, or a person ended the silence.
        const isFree = earlier.sequence === null && earlier.attempts === 0 && readyAt(earlier) <= now
        if (isFree) nextTimes.set(earlier.message, now)
        waitsUntil = Math.max(waitsUntil, isFree ? now : (earlier.next_at ?? now))
      }
      const ready = readyAt(row)
      if (ready > now) waitsUntil = Math.max(waitsUntil, ready)
      if (waitsUntil > 0) nextTimes.set(row.message, waitsUntil)
      else sendable.push(row)
    }
  }
  const isSendable = new Set(sendable.map(({ message }) => message))
  const behindDigest = new Set<number>()
  for (const row of sendable) {
    const digest = row.incident_id === null ? undefined : announced.get(row.incident_id)
    if (!digest) continue
    behindDigest.add(row.message)
    // The message is due 1 ms after the digest, so no batch takes it before the digest. If the digest is sent now, the next batch decides about the message.
    if (!isSendable.has(digest.message)) nextTimes.set(row.message, Math.max(digest.nextAt, now) + 1)
  }
  const notBehindDigest = sendable.filter(({ message }) => !behindDigest.has(message))
  const gathered = planDigest(facts, notBehindDigest.filter(isOpening))
  for (const { message, order_key } of gathered.waiting) {
    for (const row of notBehindDigest) {
      if (row.order_key === order_key && row.message >= message) nextTimes.set(row.message, gathered.nextAt)
    }
  }
  const inDigest = new Set(gathered.digest.map(({ incident }) => incident))
  const send = notBehindDigest
    .filter(
      ({ message, incident_id }) => !nextTimes.has(message) && !(incident_id !== null && inDigest.has(incident_id)),
    )
    .map((row) => ({ row, type: isOpening(row) ? ('incident.opened' as const) : row.type }))
  return { send, nextTimes, untold, outdated, digest: gathered.digest }
}

/** The first message about each incident that the channel has not heard of. An end announces nothing. */
function firstMessages({ due, earlier, announced }: DeliveryFacts): ReadonlyMap<number, number> {
  const first = new Map<number, number>()
  for (const { message, incident_id, sequence, type } of [...due, ...earlier]) {
    if (incident_id === null || sequence !== null || announced.has(incident_id) || type === 'incident.resolved')
      continue
    first.set(incident_id, Math.min(first.get(incident_id) ?? message, message))
  }
  return first
}

/** To a channel that wants openings, the first message about an incident is one, whatever happened to the incident meanwhile. */
function announces(
  { message, incident_id, sequence, type }: WaitingRow,
  facts: DeliveryFacts,
  first: ReadonlyMap<number, number>,
): boolean {
  if (incident_id === null || sequence !== null || !isOpen(facts, incident_id)) return false
  return type === 'incident.opened' || (facts.events.includes('incident.opened') && first.get(incident_id) === message)
}

/** Whether a message is still true: an attempted one is sent again as it was. */
function fateOf(
  { message, order_key, incident_id, sequence, type, replayed_at }: WaitingRow,
  facts: DeliveryFacts,
  first: ReadonlyMap<number, number>,
): 'kept' | 'untold' | 'outdated' {
  const incident = incident_id === null ? undefined : facts.incidents.get(incident_id)
  if (incident_id === null || !incident || sequence !== null) return 'kept'
  if (type === 'incident.assigned') return isAssigned(incident_id, incident, order_key) ? 'kept' : 'outdated'
  const isKnown = facts.announced.has(incident_id)
  const wantsOpenings = facts.events.includes('incident.opened')
  const isEnd = type === 'incident.resolved'
  if (isOpenState(incident.state)) {
    // The opening that is sent now says that the incident is open: that it had ended before, and reopened, is history.
    const isHistory = isEnd || type === 'incident.reopened'
    if (wantsOpenings && !isKnown && isHistory && first.get(incident_id) !== message) return 'outdated'
    return isEnd && replayed_at !== null ? 'outdated' : 'kept'
  }
  if (!isKnown && (wantsOpenings || type === 'incident.opened')) return 'untold'
  if (type === 'incident.opened' || (replayed_at !== null && !isEnd)) return 'outdated'
  return wasShort(incident) ? 'untold' : 'kept'
}

/** Whether the incident is open, and the person who is told still has it. */
const isAssigned = (id: number, { state, assignee }: IncidentFacts, orderKey: string): boolean =>
  isOpenState(state) && assignee !== null && assignmentOrderKey(id, assignee) === orderKey

/** A channel that wants no openings gets nothing about an incident that ended in its first minute either. */
function wasShort({ opened_at, resolved_at, updated_at }: IncidentFacts): boolean {
  const lastedMs = (resolved_at ?? updated_at) - opened_at
  return lastedMs >= 0 && lastedMs < openingDelayMs
}

function isOpen({ incidents }: DeliveryFacts, id: number): boolean {
  const incident = incidents.get(id)
  return incident !== undefined && isOpenState(incident.state)
}

const byNumber = (a: WaitingRow, b: WaitingRow): number => a.message - b.message

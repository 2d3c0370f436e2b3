// A channel in memory: incidents, the messages that wait, and a receiver, around the real decisions of the delivery. The writes are those of batch.ts and record-outcome.ts.
import type { ChannelEvent, MessageType } from '../../../src/contract/channels/messages.ts'
import type { Severity } from '../../../src/contract/incidents/rule-table.ts'
import { type IncidentState, isOpenState } from '../../../src/contract/incidents/states.ts'
import type { WeeklyHours } from '../../../src/contract/weekly-hours.ts'
import { decide } from '../../../src/server/channels/delivery/holding/decide.ts'
import { stormWindowMs } from '../../../src/server/channels/delivery/holding/storms.ts'
import type { WaitingRow } from '../../../src/server/channels/delivery/holding/waiting.ts'
import { RetryReleases } from '../../../src/server/channels/delivery/releases.ts'
import { nextAttemptAt } from '../../../src/server/channels/delivery/retry-schedule.ts'
import { nextTimeWithin } from '../../../src/server/core/time/weekly-hours.ts'
import { openingDelayMs } from '../../../src/server/journal/outbox/outbox.ts'

const minuteMs = 60_000
const digestKey = 'digest'
/** A Monday, within the hours of offices. */
export const courseStart = Date.UTC(2026, 4, 4, 12)

interface Incident {
  state: IncidentState
  severity: Severity
  opened_at: number
  resolved_at: number | null
  updated_at: number
  readonly assignee: null
  size: number
}

type Row = { -readonly [K in keyof WaitingRow]: WaitingRow[K] } & {
  state: 'WAITING' | 'DELIVERED' | 'CANCELLED'
  /** The incidents of a digest. */
  ids: readonly number[]
  /** The size that the message names, from its first attempt on. */
  size: number | undefined
}

interface Accepted {
  readonly type: MessageType
  readonly ids: readonly number[]
  readonly sequence: number
  readonly size: number | undefined
  readonly at: number
}

export class ChannelWorld {
  readonly incidents = new Map<number, Incident>()
  readonly rows: Row[] = []
  /** By incident: the message that announced it, its size, and whether its growth was sent. */
  readonly announced = new Map<number, { message: number; size: number; hasGrown: boolean }>()
  readonly silencedUntil = new Map<number, number>()
  readonly accepted: Accepted[] = []
  /** The incidents that are open as far as a receiver knows that takes each message at its word. */
  readonly believedOpen = new Set<number>()
  /** By incident: the size that the receiver heard of last. */
  readonly believedSize = new Map<number, number>()
  readonly firstHeard = new Map<number, MessageType>()
  /** By incident: when the first message about it was first attempted. */
  readonly firstSentAt = new Map<number, number>()
  /** How many attempts fail from now on. */
  failures = 0
  hasFailed = false
  now = courseStart
  #failingSince: number | undefined
  #sequence = 0
  #lastIncident = 0
  readonly #releases = new RetryReleases()
  readonly #events: readonly ChannelEvent[]
  readonly #hours: WeeklyHours | undefined

  constructor(events: readonly ChannelEvent[], hours?: WeeklyHours) {
    this.#events = events
    this.#hours = hours
  }

  get openIds(): number[] {
    return [...this.incidents].filter(([, { state }]) => isOpenState(state)).map(([id]) => id)
  }

  isSilenced(id: number): boolean {
    return this.now < (this.silencedUntil.get(id) ?? 0)
  }

  open(severity: Severity, size = 1): number {
    const id = ++this.#lastIncident
    const at = this.now
    const times = { opened_at: at, resolved_at: null, updated_at: at }
    this.incidents.set(id, { state: 'OPEN', severity, ...times, assignee: null, size })
    this.tell(id, 'incident.opened')
    return id
  }

  resolve(id: number, state: 'RESOLVED' | 'MERGED' = 'RESOLVED'): void {
    this.#change(id, { state, resolved_at: this.now })
    this.tell(id, 'incident.resolved')
  }

  /** No finding matures during a silence, so nothing reopens then. */
  reopen(id: number): void {
    if (this.isSilenced(id)) return
    this.#change(id, { state: 'OPEN', resolved_at: null })
    this.tell(id, 'incident.reopened')
  }

  acknowledge(id: number): void {
    this.#change(id, { state: 'ACKNOWLEDGED' })
    if (!this.isSilenced(id)) this.tell(id, 'incident.acknowledged')
  }

  setSeverity(id: number, severity: Severity): void {
    this.#change(id, { severity })
    if (!this.isSilenced(id)) this.tell(id, 'incident.changed')
    if (severity !== 'CRITICAL') return
    for (const row of this.rows) {
      const waits = row.state === 'WAITING' && row.sequence === null && (row.next_at ?? 0) > this.now
      if (waits && row.incident_id === id) row.next_at = this.now
    }
  }

  /** Devices join; the engine sends a change for that only to channels that want changes. */
  grow(id: number, size: number): void {
    this.#change(id, { size })
    if (this.isSilenced(id)) return
    this.tell(id, 'incident.changed')
    const known = this.announced.get(id)
    if (!known || known.hasGrown || known.size * 10 > size) return
    known.hasGrown = true
    if (!this.#events.includes('incident.changed')) this.#write('incident.changed', `incident ${id}`, id)
  }

  tell(id: number, type: ChannelEvent): void {
    if (this.#events.includes(type)) this.#write(type, `incident ${id}`, id)
  }

  /** Sends again what was delivered in a time, and what came later about its incidents. */
  replay(from: number, to: number): void {
    const isDelivered = ({ state }: Row) => state === 'DELIVERED'
    const chosen = this.rows.filter((row) => isDelivered(row) && row.created_at >= from && row.created_at < to)
    const later = this.rows.filter(
      (row) =>
        isDelivered(row) &&
        row.incident_id !== null &&
        chosen.some(({ message, incident_id, ids }) => {
          const isAbout = incident_id === row.incident_id || ids.includes(row.incident_id as number)
          return isAbout && message < row.message
        }),
    )
    for (const row of new Set([...chosen, ...later])) {
      Object.assign(row, { state: 'WAITING', attempts: 0, next_at: this.now, replayed_at: this.now })
    }
  }

  /** Lets time pass, and stops at each time at which something becomes due. */
  pass(ms: number): void {
    const end = this.now + ms
    this.run()
    while (this.now < end) {
      const next = Math.min(...this.rows.filter(({ state }) => state === 'WAITING').map(({ next_at }) => next_at ?? 0))
      this.now = Math.min(end, Math.max(next, this.now + 1))
      this.run()
    }
  }

  /** Does what the worker of a channel does. */
  run(): void {
    if (this.#releases.takePending('channel', this.now)) this.#release()
    for (let turns = 0; this.#runBatch(this.#failingSince === undefined ? 100 : 4); turns++) {
      if (turns > 1000) throw new Error('the delivery goes round in circles')
    }
  }

  #runBatch(limit: number): boolean {
    const { now } = this
    const waiting = this.rows.filter(({ state }) => state === 'WAITING')
    const due = waiting
      .filter(({ next_at }) => (next_at ?? 0) <= now)
      .toSorted((a, b) => (a.next_at ?? 0) - (b.next_at ?? 0) || a.message - b.message)
      .slice(0, limit)
    if (due.length === 0) return false
    const keys = new Set(due.map(({ order_key }) => order_key))
    const since = Math.min(...due.map(({ created_at }) => created_at)) - stormWindowMs
    const digests = this.rows.filter(({ order_key }) => order_key === digestKey)
    const decision = decide<Row>({
      now,
      events: this.#events,
      takesDigests: true,
      due,
      earlier: waiting.filter(({ order_key, message }) => {
        const isEarlier = due.some((row) => row.order_key === order_key && message < row.message)
        return keys.has(order_key) && isEarlier && !due.some((row) => row.message === message)
      }),
      openings: this.rows.filter(
        ({ type, created_at, state }) => type === 'incident.opened' && created_at >= since && state !== 'CANCELLED',
      ),
      incidents: this.incidents,
      announced: new Map(
        [...this.announced].map(([id, { message }]) => {
          const digest = digests.find((row) => row.message === message && row.state === 'WAITING')
          return [id, digest && { message, nextAt: digest.next_at ?? 0 }]
        }),
      ),
      lastDigestAt: digests.at(-1)?.created_at,
      freeAt: (id, from) => {
        if (id !== null && this.isSilenced(id)) return Math.max(from, now + minuteMs)
        const isCritical = id !== null && this.incidents.get(id)?.severity === 'CRITICAL'
        return this.#hours && !isCritical ? nextTimeWithin(this.#hours, 'UTC', from) : from
      },
    })
    for (const id of decision.untold) {
      this.#cancel(({ incident_id, sequence }) => incident_id === id && sequence === null)
    }
    for (const { message } of decision.outdated) this.#cancel((row) => row.message === message && row.sequence === null)
    for (const row of waiting) row.next_at = decision.nextTimes.get(row.message) ?? row.next_at
    const send = decision.send.map(({ row, type }) => this.#number(row, type))
    if (decision.digest.length > 0) {
      const gathered = new Set(decision.digest.map(({ message }) => message))
      this.#cancel(({ message, sequence }) => gathered.has(message) && sequence === null)
      const ids = decision.digest.map(({ incident }) => incident)
      const digest = this.#number(this.#write('incident.digest', digestKey, null, ids), 'incident.digest')
      for (const id of ids) this.#announce(id, digest.message)
      send.unshift(digest)
    }
    this.#sendAll(send)
    return due.some((row) => row.state !== 'WAITING' || (row.next_at ?? 0) <= now)
  }

  /** A failure ends the batch, as in the worker. */
  #sendAll(rows: readonly Row[]): void {
    for (const row of rows.toSorted((a, b) => a.message - b.message)) {
      row.attempts++
      if (this.failures > 0) {
        this.failures--
        this.#fail(row)
        return
      }
      this.#accept(row)
    }
  }

  #fail(row: Row): void {
    this.hasFailed = true
    this.#failingSince ??= this.now
    this.#releases.failed('channel')
    const nextAt = nextAttemptAt({ now: this.now, attempts: row.attempts }, () => 0)
    row.next_at = nextAt
    for (const later of this.rows) {
      const isBehind = later.order_key === row.order_key && later.message > row.message && later.state === 'WAITING'
      if (isBehind && (later.next_at ?? 0) < nextAt) later.next_at = nextAt
    }
  }

  #accept(row: Row): void {
    if (this.#failingSince !== undefined && this.#releases.succeeded('channel', this.now)) this.#release()
    this.#failingSince = undefined
    Object.assign(row, { state: 'DELIVERED', next_at: null })
    const { type, incident_id, size } = row
    const ids = incident_id === null ? row.ids : [incident_id]
    this.accepted.push({ type, ids, sequence: row.sequence as number, size, at: this.now })
    for (const id of ids) {
      if (!this.firstHeard.has(id)) this.firstHeard.set(id, type)
      const heardSize = type === 'incident.digest' ? this.announced.get(id)?.size : size
      if (heardSize !== undefined) this.believedSize.set(id, heardSize)
      if (type === 'incident.resolved') this.believedOpen.delete(id)
      else this.believedOpen.add(id)
    }
  }

  #release(): void {
    for (const row of this.rows) {
      const isYoung = row.type === 'incident.opened' && row.created_at > this.now - openingDelayMs
      if (row.state === 'WAITING' && (row.next_at ?? 0) > this.now && !isYoung) row.next_at = this.now
    }
  }

  #number(row: Row, type: MessageType): Row {
    const isFirst = row.sequence === null || (row.attempts === 0 && row.replayed_at === null)
    row.sequence ??= ++this.#sequence
    row.type = type
    const incident = row.incident_id === null ? undefined : this.incidents.get(row.incident_id)
    if (!isFirst || !incident || row.incident_id === null || type === 'incident.resolved') return row
    if (isOpenState(incident.state)) row.size = incident.size
    if (type === 'incident.opened' || type === 'incident.reopened') this.#announce(row.incident_id, row.message)
    return row
  }

  #announce(id: number, message: number): void {
    if (!this.firstSentAt.has(id)) this.firstSentAt.set(id, this.now)
    this.announced.set(id, { message, size: this.incidents.get(id)?.size ?? 0, hasGrown: false })
  }

  #write(type: MessageType, order_key: string, incident_id: number | null, ids: readonly number[] = []): Row {
    const row: Row = {
      message: this.rows.length + 1,
      type,
      order_key,
      incident_id,
      created_at: this.now,
      next_at: type === 'incident.opened' ? this.now + openingDelayMs : this.now,
      attempts: 0,
      sequence: null,
      replayed_at: null,
      state: 'WAITING',
      ids,
      size: undefined,
    }
    this.rows.push(row)
    return row
  }

  #cancel(isChosen: (row: Row) => boolean): void {
    for (const row of this.rows) {
      if (row.state === 'WAITING' && isChosen(row)) Object.assign(row, { state: 'CANCELLED', next_at: null })
    }
  }

  #change(id: number, values: Partial<Incident>): void {
    Object.assign(this.incidents.get(id) as Incident, values, { updated_at: this.now })
  }
}

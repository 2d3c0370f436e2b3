// Sends many openings of incidents to a channel as one message. [contract 10.delivery]
import { minuteMs } from '../../../../../contract/durations.ts'
import { isoTime } from '../../../../core/clock.ts'
import type { OrgDatabase } from '../../../../db/org-database.ts'
import type { ChannelSettings } from '../../settings.ts'
import type { DigestContent } from '../senders/message.ts'
import type { DueRow } from '../store.ts'
import { IncidentSchedule } from './incident-schedule.ts'
import { findLastMessage, listOpenings, listWaitingWith, type OpeningRow } from './opening-store.ts'
import { findStorms, maxOpenings, stormWindowMs } from './storms.ts'

/** The error word of a delivery that was cancelled because its incident ended before it was sent. */
export const endedEarly = 'ended within a minute'
/** The error word of a delivery that was cancelled because a silence held it until its incident had ended. */
export const endedInSilence = 'ended during a silence'
/** The error word of a delivery that was cancelled because a digest has it. */
export const inDigest = 'in a digest'

/** A digest waits for openings that follow closely, but not longer than this after the first of them. */
const maxWaitMs = 2 * minuteMs
const maxOpeningsRead = 5000
/** More ids would not fit into the largest message. */
const maxIdsInDigest = 1000

export const digestOrderKey = (channel: number): string => `digest ${channel}`

export interface DigestPlan {
  /** The openings that are not sent one by one. */
  readonly messages: ReadonlySet<number>
  /** The incidents that they are about. */
  readonly incidentIds?: ReadonlySet<number | null>
  /** Set if the messages wait for others. */
  readonly nextAt?: number
  /** Set if the messages are sent together now. */
  readonly digest?: DigestContent
}

interface DigestRequest {
  readonly channel: number
  readonly settings: ChannelSettings
  readonly orgZone: string
  readonly openings: readonly DueRow[]
  readonly now: number
}

/** Returns undefined if the openings are few enough to be sent one by one. After a digest, openings wait until ten minutes have passed. */
export async function planDigest(db: OrgDatabase, request: DigestRequest): Promise<DigestPlan | undefined> {
  const { channel, settings, orgZone, openings, now } = request
  if (openings.length === 0) return undefined
  const before = await findLastMessage(db, { orderKey: digestOrderKey(channel) })
  if (before && before.created_at + stormWindowMs > now) {
    return { messages: new Set(openings.map(({ message }) => message)), nextAt: before.created_at + stormWindowMs }
  }
  const since = Math.min(...openings.map(({ created_at }) => created_at)) - stormWindowMs
  const known = await listOpenings(db, {
    channel,
    since,
    withoutErrors: [endedEarly, endedInSilence, inDigest],
    limit: maxOpeningsRead,
  })
  const isUnsent = ({ state, sequence }: OpeningRow) => state === 'WAITING' && sequence === null
  const isDue = ({ next_at }: OpeningRow) => next_at !== null && next_at <= now
  const together = known.filter((opening) => isUnsent(opening) && isDue(opening))
  // Openings of a whole night become due together when the hours of the channel begin.
  const isMorning = settings.hours !== undefined && together.length > maxOpenings
  const unsent = isMorning ? together : findStorms(known).filter(isUnsent)
  const due = unsent.filter(isDue)
  if (!due.some(({ number }) => openings.some(({ message }) => message === number))) return undefined
  const facts = await IncidentSchedule.read(db, due, settings, orgZone, now)
  const hasEnded = (opening: OpeningRow) => facts.hasEndedEarly(opening) || facts.hasEndedInSilence(opening)
  const toSend = due.filter((opening) => !hasEnded(opening) && facts.sendableAt(opening, now) <= now)
  if (toSend.length === 0) return undefined
  const messages = new Set(toSend.map(({ number }) => number))
  const nextAt = waitUntil(unsent, now)
  if (nextAt !== undefined) return { messages, nextAt }
  const incidentIds = new Set(toSend.map(({ incident_id }) => incident_id))
  return { messages, incidentIds, digest: contentOf(toSend, facts) }
}

/** Digests that wait, by the incidents that they have. Later messages about these come after them. */
export interface WaitingDigests {
  /** Returns the digest that has the opening of an incident. */
  find(incidentId: number | null): WaitingDigest | undefined
}
interface WaitingDigest {
  readonly message: number
  readonly nextAt: number
}

export async function readWaitingDigests(db: OrgDatabase, channel: number): Promise<WaitingDigests> {
  const rows = await listWaitingWith(db, { channel, orderKey: digestOrderKey(channel) })
  const digests = rows.map(({ number, data, next_at }) => {
    const { count, incidentIds } = (JSON.parse(data) as { digest: DigestContent }).digest
    // A digest that names only a part of its incidents may have any of them.
    const isWhole = incidentIds.length >= count
    return { message: number, nextAt: next_at ?? 0, ids: isWhole ? new Set(incidentIds) : undefined }
  })
  return {
    find: (incidentId) =>
      incidentId === null ? undefined : digests.find(({ ids }) => ids?.has(String(incidentId)) ?? true),
  }
}

/** A digest waits for openings that are due soon. */
function waitUntil(unsent: readonly OpeningRow[], now: number): number | undefined {
  const lastDue = Math.max(...unsent.map(({ next_at }) => next_at ?? 0))
  const oldest = Math.min(...unsent.map(({ created_at }) => created_at))
  return lastDue > now && now < oldest + maxWaitMs ? Math.min(lastDue, oldest + maxWaitMs) : undefined
}

function contentOf(toSend: readonly OpeningRow[], facts: IncidentSchedule): DigestContent {
  const times = toSend.map(({ created_at }) => created_at)
  const incidents = toSend.map(({ incident_id }) => facts.find(incident_id))
  return {
    count: toSend.length,
    from: isoTime(Math.min(...times)),
    to: isoTime(Math.max(...times)),
    bySeverity: countBy(incidents.map((incident) => incident?.severity)),
    byRule: countBy(incidents.map((incident) => incident?.rule)),
    incidentIds: toSend.slice(0, maxIdsInDigest).map(({ incident_id }) => String(incident_id)),
  }
}

function countBy(names: readonly (string | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

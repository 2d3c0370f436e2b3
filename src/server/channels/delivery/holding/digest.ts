// Decides which openings of incidents are sent to a channel as one message. [contract 10.delivery]
import { minuteMs } from '../../../../contract/durations.ts'
import { isOpenState } from '../../../../contract/incidents/states.ts'
import { findStorms, maxOpenings, stormWindowMs } from './storms.ts'
import { type DeliveryFacts, type GatheredOpening, openingReadyAt, type WaitingRow } from './waiting.ts'

/** A digest waits for openings that follow closely, but not longer than this after the first of them. */
const maxWaitMs = 2 * minuteMs

type Opening = Pick<WaitingRow, 'message' | 'incident_id' | 'created_at' | 'next_at'>

interface DigestPlan {
  /** The openings that are sent together now. */
  readonly digest: readonly GatheredOpening[]
  /** Openings that wait for others until `nextAt`. */
  readonly waiting: readonly WaitingRow[]
  readonly nextAt: number
}

/**
 * `due` has the openings that nothing else holds. After a digest openings wait until ten minutes have passed, but a critical one waits for
 * no digest: it is sent alone, or in a digest immediately if more than twenty are due.
 */
export function planDigest(facts: DeliveryFacts, due: readonly WaitingRow[]): DigestPlan {
  const { now, incidents, lastDigestAt } = facts
  const alone = { digest: [], waiting: [], nextAt: now }
  if (!facts.takesDigests || due.length === 0) return alone
  const isCritical = ({ incident_id }: Opening) => incidents.get(incident_id ?? 0)?.severity === 'CRITICAL'
  const unsent = unsentOpenings(facts, due)
  const ready = unsent.filter((opening) => openingReadyAt(opening, facts) <= now)
  const criticalCount = ready.filter(isCritical).length
  const all = { ...alone, digest: digestOf(ready) }
  const milder = due.filter((opening) => !isCritical(opening))
  // A time in the future was written by a clock that was ahead.
  const isAfterDigest =
    lastDigestAt !== undefined && lastDigestAt <= now + minuteMs && now < lastDigestAt + stormWindowMs
  if (isAfterDigest) {
    return criticalCount > maxOpenings ? all : { ...alone, waiting: milder, nextAt: lastDigestAt + stormWindowMs }
  }
  if (criticalCount > 0 && ready.length > maxOpenings) return all
  const isKnown = new Set(facts.openings.map(({ message }) => message))
  const history: Opening[] = [...facts.openings, ...due.filter(({ message }) => !isKnown.has(message))]
  const inStorm = new Set(
    findStorms(history.toSorted((a, b) => a.created_at - b.created_at)).map(({ message }) => message),
  )
  const isGathered = (opening: Opening) =>
    !isCritical(opening) && (ready.length > maxOpenings || inStorm.has(opening.message))
  const waiting = milder.filter(isGathered)
  if (waiting.length === 0) return alone
  const nextAt = waitUntil(unsent.filter(isGathered), now)
  if (nextAt !== undefined) return { ...alone, waiting, nextAt }
  const gathered = ready.filter(isGathered)
  // The last one of a storm is sent with its title and its room.
  return gathered.length > 1 ? { ...alone, digest: digestOf(gathered) } : alone
}

/** One for each incident: those that are due, and those that the channel has not heard of and that wait for something. */
function unsentOpenings({ openings, incidents, announced }: DeliveryFacts, due: readonly WaitingRow[]): Opening[] {
  const isDue = new Set(due.map(({ incident_id }) => incident_id))
  const others = openings.filter(({ state, sequence, incident_id }) => {
    if (state !== 'WAITING' || sequence !== null || incident_id === null) return false
    const incident = incidents.get(incident_id)
    return incident && isOpenState(incident.state) && !isDue.has(incident_id) && !announced.has(incident_id)
  })
  return [...due, ...new Map(others.map((opening) => [opening.incident_id, opening])).values()]
}

/** A digest waits for openings that are due soon. */
function waitUntil(unsent: readonly Opening[], now: number): number | undefined {
  const lastDue = Math.max(...unsent.map(({ next_at }) => next_at ?? 0))
  const oldest = Math.min(now, ...unsent.map(({ created_at }) => created_at))
  return lastDue > now && now < oldest + maxWaitMs ? Math.min(lastDue, oldest + maxWaitMs) : undefined
}

const digestOf = (openings: readonly Opening[]): readonly GatheredOpening[] =>
  openings.map(({ message, incident_id }) => ({ message, incident: incident_id as number }))

// Makes the events of a change: its kind and its places, never the changed values. [contract 6.events]

import type { RequestContext } from '../../context/request-context.ts'
import type { Tx } from '../../db/handles.ts'
import type { EventDraft, EventSubjects } from '../../events/draft.ts'
import { PlaceIndex } from '../../events/surroundings.ts'
import { listPlacesOf } from '../places/store.ts'
import type { AuditRef, Changed } from './changed.ts'

interface WrittenEntry {
  readonly seq: number
  readonly timestamp: number
  readonly type: string
}

/** Returns a function that makes the drafts to publish after the commit. The places are read before it, because a later change may move or delete them. */
export async function changeEventDrafts(
  tx: Tx,
  { events }: RequestContext,
  entry: WrittenEntry,
  changed: Changed<unknown>,
): Promise<() => EventDraft[]> {
  // Without followers the query is saved. The event feed looks the places up for a follower that arrives before the commit.
  if (!events.isFollowed()) return () => draftsOf(tx, entry, changed, { about: subjectsOf(changed) })
  const about = subjectsOf(changed)
  const places = new PlaceIndex(await listPlacesOf(tx, about)).placesAround(about.endpoints, about)
  return () => draftsOf(tx, entry, changed, { about, places })
}

const draftsOf = (
  { drafts }: Tx,
  { seq, timestamp, type }: WrittenEntry,
  { target }: Changed<unknown>,
  where: Pick<EventDraft, 'about' | 'places'>,
): EventDraft[] => [
  {
    type: 'structure',
    at: timestamp,
    auditNumber: seq,
    ...(target.type === 'endpoint' && { endpointId: target.id }),
    change: { id: String(seq), type, target },
    ...where,
  },
  // A draft that names subjects of its own gets the subjects and places of the whole change.
  ...drafts.map((draft) => (draft.about ? { ...draft, ...where } : draft)),
]

/** Collects everything that the entry names, before and after: a move has two places, a deletion the former place. */
function subjectsOf({ target, affected = [], before = {}, after = {} }: Changed<unknown>): Required<EventSubjects> {
  const named = (type: string) => [target, ...affected].filter((ref) => ref.type === type)
  const numbered = (type: string, one: string, many: string) => [
    ...named(type).map((ref: AuditRef) => Number(ref.id)),
    ...[before[one], after[one], before[many], after[many]].flatMap(numbersIn),
  ]
  return {
    endpoints: named('endpoint').map((ref) => ref.id),
    rooms: numbered('room', 'roomId', 'roomIds'),
    locations: numbered('location', 'locationId', 'locationIds'),
    regions: numbered('region', 'regionId', 'regionIds'),
  }
}

/** Accepts a number, a list of numbers, or an object with numbers as values. */
const numbersIn = (value: unknown): number[] =>
  (typeof value === 'object' && value !== null ? Object.values(value) : [value]).filter((n) => typeof n === 'number')

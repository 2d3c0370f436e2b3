// A change as those who follow are told it: what and where, never what was in it. [contract 6.events]

import type { RequestContext } from '../../context/request-context.ts'
import type { Tx } from '../../db/handles.ts'
import type { EventDraft, EventSubjects } from '../../events/draft.ts'
import { PlaceIndex } from '../../events/surroundings.ts'
import { listPlacesOf } from '../places/store.ts'
import type { AuditRef, Changed } from './change.ts'

interface Entry {
  readonly seq: number
  readonly timestamp: number
  readonly type: string
}

/** What is to be told after the commit. Where it happened is asked before: what is around it may move next, or be deleted. */
export async function changeEventDrafts(
  tx: Tx,
  { events }: RequestContext,
  entry: Entry,
  changed: Changed<unknown>,
): Promise<() => EventDraft[]> {
  // Nobody pays who is not listened to; whoever comes before the commit has it looked up later.
  if (!events.isFollowed()) return () => drafts(tx, entry, changed, { about: aboutOf(changed) })
  const about = aboutOf(changed)
  const places = new PlaceIndex(await listPlacesOf(tx, about)).placesAround(about.endpoints, about)
  return () => drafts(tx, entry, changed, { about, places })
}

const drafts = (
  { drafts: announced }: Tx,
  { seq, timestamp, type }: Entry,
  { target }: Changed<unknown>,
  where: Pick<EventDraft, 'about' | 'places'>,
): EventDraft[] => [
  {
    type: 'structure',
    at: timestamp,
    ...(target.type === 'endpoint' && { endpointId: target.id }),
    change: { id: String(seq), type, target },
    ...where,
  },
  // What says more than its endpoint is about what the change is about.
  ...announced.map((draft) => (draft.about ? { ...draft, ...where } : draft)),
]

/** Everything that the entry names, before and after: what moved is about both places, what is deleted about where it was. */
function aboutOf({ target, affected = [], before = {}, after = {} }: Changed<unknown>): Required<EventSubjects> {
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

/** A number, a list of them, or an object that has them as values. */
const numbersIn = (value: unknown): number[] =>
  (typeof value === 'object' && value !== null ? Object.values(value) : [value]).filter((n) => typeof n === 'number')

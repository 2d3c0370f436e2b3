// Makes the events of a change: its kind and its places, never the changed values. [contract 6.events]

import type { AuditCategory } from '../../../contract/operation.ts'
import type { Tx } from '../../db/handles.ts'
import type { EventDraft } from '../../events/draft.ts'
import type { ChangeResult } from './change-result.ts'
import type { ChangedPlaces } from './changed-places.ts'

interface WrittenEntry {
  readonly seq: number
  readonly timestamp: number
  readonly category: AuditCategory
  readonly type: string
}

/** Makes the drafts to publish after the commit. */
export function changeEventDrafts(
  { drafts }: Tx,
  { seq, timestamp, category, type }: WrittenEntry,
  { target: { type: targetType, id, name } }: ChangeResult<unknown>,
  { about, places, regions, roomRegions, locationRegions }: ChangedPlaces,
): EventDraft[] {
  return [
    {
      type: 'structure',
      at: timestamp,
      auditNumber: seq,
      ...(targetType === 'endpoint' && { endpointId: id }),
      change: { id: String(seq), type, target: { type: targetType, id, name } },
      about,
      places,
      parts: { category, rooms: roomRegions, locations: locationRegions, target: regions.target },
    },
    // A draft that names subjects of its own gets the subjects and places of the whole change.
    ...drafts.map((draft) => (draft.about ? { ...draft, about, places } : draft)),
  ]
}

// Removes a deleted region or location from the resources of other domains that name it. [contract D.3] [contract 10.channel]
import type { Tx } from '../db/handles.ts'
import type { AuditRef } from '../journal/audit/change-result.ts'

interface DeletedPlace {
  readonly type: 'region' | 'location'
  readonly id: number
}

/** Removes a deleted place from the resources of one kind, and returns those that named it, for the audit entry. */
export type ForgetPlace = (tx: Tx, place: DeletedPlace) => Promise<AuditRef[]>

/** The kinds of resources that name places. phases/http.ts lists them, because their domains are above this one. */
export type PlaceReferences = readonly ForgetPlace[]

/** Removes a deleted place everywhere. The audit entry lists the resources in the order of the kinds. */
export async function forgetPlace(tx: Tx, references: PlaceReferences, place: DeletedPlace): Promise<AuditRef[]> {
  const affected: AuditRef[] = []
  for (const forget of references) affected.push(...(await forget(tx, place)))
  return affected
}

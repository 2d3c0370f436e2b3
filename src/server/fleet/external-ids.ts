// Keeps external ids unique among the resources of a kind. [contract 5.5.externalId]
import { Failure } from '../core/failure.ts'
import type { Tx } from '../db/handles.ts'
import { wholeQueryOne } from '../db/queries/query.ts'

const holderIn = (table: 'regions' | 'locations' | 'rooms' | 'profiles' | 'endpoints') =>
  wholeQueryOne((db, p: { org: number; externalId: string }) =>
    db.selectFrom(table).select('id').where('org', '=', p.org).where('external_id', '=', p.externalId),
  )

const holders = {
  region: holderIn('regions'),
  location: holderIn('locations'),
  room: holderIn('rooms'),
  profile: holderIn('profiles'),
  endpoint: holderIn('endpoints'),
}

interface WantedId<I> {
  /** The id of the resource that the request changes; undefined for a new one. */
  readonly id?: I
  readonly externalId: string | null
}

/** Refuses an external id that another resource has. `find` reads a resource that the caller sees: no other one is named. */
export async function refuseTakenExternalId<I extends string | number>(
  tx: Tx,
  kind: keyof typeof holders,
  { id, externalId }: WantedId<I>,
  find: (id: I) => Promise<object | undefined>,
): Promise<void> {
  if (externalId === null) return
  const holder = (await holders[kind](tx, { externalId }))?.id as I | undefined
  if (holder === undefined || holder === id) return
  const name = (await find(holder)) ? `${kind} ${holder}` : `another ${kind}, which you do not see,`
  throw new Failure(
    'FAILED_PRECONDITION',
    `${name} already has the externalId ${externalId}. Send another one, or clear that one first.`,
  )
}

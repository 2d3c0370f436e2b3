// The fields of a region that people set: their columns, and what requests, answers and the audit log make of them.
import type { InputOf } from '../../context/handlers.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'

export const regionFieldColumns = ['name', 'external_id'] as const
export type RegionValues = Pick<DatabaseSchema['regions'], (typeof regionFieldColumns)[number]>

/** The values after a request. An absent external id keeps what is stored; a new region has none yet. */
export const regionValues = (
  body: InputOf<'regionsUpdate'>['body'],
  stored: Pick<RegionValues, 'external_id'> = { external_id: null },
): RegionValues => ({
  name: body.name,
  external_id: body.externalId === undefined ? stored.external_id : body.externalId,
})

export const auditedRegion = new AuditedFields(
  (row: RegionValues) => ({ name: row.name, externalId: row.external_id }),
  ['name'],
)

interface LocationOfRegion {
  readonly id: number
  readonly name: string
}

export const regionView = (
  { id, name, external_id }: RegionValues & { readonly id: number },
  locations: readonly LocationOfRegion[],
) => ({
  id,
  name,
  locations: locations.map((location) => ({ id: location.id, name: location.name })),
  ...(external_id !== null && { externalId: external_id }),
})

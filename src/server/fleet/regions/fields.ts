// The fields of a region that people set: their columns, and what requests, answers and the audit log make of them.
import type { InputOf } from '../../context/handlers.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'

export const regionFieldColumns = ['name'] as const
export type RegionValues = Pick<DatabaseSchema['regions'], (typeof regionFieldColumns)[number]>

export const regionValues = (body: InputOf<'regionsUpdate'>['body']): RegionValues => ({ name: body.name })

export const auditedRegion = new AuditedFields((row: RegionValues) => ({ name: row.name }), ['name'])

interface LocationOfRegion {
  readonly id: number
  readonly name: string
}

export const regionView = (
  { id, name }: RegionValues & { readonly id: number },
  locations: readonly LocationOfRegion[],
) => ({
  id,
  name,
  locations: locations.map((location) => ({ id: location.id, name: location.name })),
})

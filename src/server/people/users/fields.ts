// The fields of a user that people set: their columns, and what requests and the audit log make of them.
import type { Selectable } from 'kysely'
import type { InputOf } from '../../context/handlers.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'

type Users = Selectable<DatabaseSchema['users']>

export const userFieldColumns = ['email', 'name', 'role', 'all_regions', 'state'] as const
export type UserValues = Pick<Users, (typeof userFieldColumns)[number]>
type StoredUser = UserValues & Pick<Users, 'signed_in_at'>

const newUser: StoredUser = { email: '', name: null, role: '', all_regions: 0, state: 'INVITED', signed_in_at: null }

/** The values after a request. Its absent keys keep what is stored; a new user has nothing yet. */
export const userValues = (body: InputOf<'usersUpdate'>['body'], stored: StoredUser = newUser): UserValues => ({
  email: body.email ?? stored.email,
  name: body.name === undefined ? stored.name : body.name,
  role: body.role ?? stored.role,
  all_regions: Number(body.allRegions ?? stored.all_regions === 1),
  state: stateAfter(stored, body.state),
})

/** Whether a user is INVITED or ACTIVE follows from their sign-ins: a request only disables, or enables again. */
function stateAfter(before: StoredUser, requested: string | undefined): string {
  if (requested === undefined || requested === before.state) return before.state
  if (requested === 'DISABLED') return requested
  if (before.state !== 'DISABLED') return before.state
  return before.signed_in_at === null ? 'INVITED' : 'ACTIVE'
}

/** An entry shows all fields, so it says what the user may do without the entries before it. */
export const auditedUser = new AuditedFields(
  ({ email, name, role, all_regions, state, regionIds }: UserValues & { readonly regionIds: readonly number[] }) => ({
    email,
    ...(name !== null && { name }),
    role,
    allRegions: all_regions === 1,
    regionIds,
    state,
  }),
  ['email', 'name', 'role', 'allRegions', 'regionIds', 'state'],
)

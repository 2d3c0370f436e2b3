// Keeps an owner in every organisation, and one who can sign in where there is one. [contract 5.4.user] [contract 11.user]
import { Failure } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import { findOwnerWays, hasOtherOwner, type UserRow } from './store.ts'

type Verb = 'deleted' | 'demoted' | 'disabled' | 'unlinked'

/** The last owner cannot be deleted or demoted, even if no person has ever signed in. */
export async function requireAnotherOwner(tx: Tx, user: UserRow, verb: 'deleted' | 'demoted'): Promise<void> {
  if (user.role === 'owner' && !(await hasOtherOwner(tx, { id: user.id }))) {
    throw new Failure('FAILED_PRECONDITION', `the last owner cannot be ${verb}. Make another user an owner first.`)
  }
  await requireAnotherOwnerWhoSignsIn(tx, user, verb)
}

export async function requireAnotherOwnerWhoSignsIn(tx: Tx, user: UserRow, verb: Verb): Promise<void> {
  if (!isOwnerWhoSignsIn(user) || (await hasOwnerWhoSignsIn(tx, user.id))) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `the last owner who can sign in cannot be ${verb}. Let another owner sign in with a company account or a passkey first.`,
  )
}

/** An owner who came by a link only has no way to sign in again. */
const isOwnerWhoSignsIn = ({ role, state, has_identity, has_passkey }: UserRow): boolean =>
  role === 'owner' && state === 'ACTIVE' && has_identity + has_passkey > 0

/** Must be called after the removal of a passkey of an owner. */
export async function requireOwnerWhoSignsIn(tx: Tx): Promise<void> {
  if (await hasOwnerWhoSignsIn(tx)) return
  throw new Failure(
    'FAILED_PRECONDITION',
    'this is the last passkey with which an owner can sign in. Add another passkey first, or link a company account.',
  )
}

async function hasOwnerWhoSignsIn(tx: Tx, except?: number): Promise<boolean> {
  const { identity, passkey } = await findOwnerWays(tx, except)
  return identity || passkey
}

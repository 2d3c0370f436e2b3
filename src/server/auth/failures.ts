// The failures of a caller who is not signed in, or lacks a permission. http/errors.ts adds the header WWW-Authenticate. [contract 2.3]
import type { Operation } from '../../contract/operation.ts'
import { neededPermissions, type Permission, rolesWith } from '../../contract/people/permissions.ts'
import { Failure } from '../core/failure.ts'
import type { TokenHolder } from './token-holder.ts'

export const signInFirst = (sentence: string): Failure => new Failure('UNAUTHENTICATED', sentence, { needsToken: true })
export const sessionEnded = (): Failure => signInFirst('The session has ended. Sign in again.')

/** Says what the caller is and what is needed; with an operation, the failure lists everything that the operation needs. */
export function permissionDenied(
  caller: Pick<TokenHolder, 'user' | 'key'>,
  missing: Permission,
  operation?: Operation,
  purpose = '',
): Failure {
  return new Failure('PERMISSION_DENIED', deniedSentence(caller, `${nameOf(missing)}${purpose}`, wayOutFor(missing)), {
    neededPermissions: operation ? neededPermissions(operation) : [missing],
  })
}

function deniedSentence({ user, key }: Pick<TokenHolder, 'user' | 'key'>, missing: string, wayOut: string): string {
  if (!user) return `This key lacks ${missing}. Use a key that has it.`
  if (!key) return `Your role ${user.role} lacks ${missing}. ${wayOut}`
  return `This personal key, or the role ${user.role} of its person, lacks ${missing}. Use a key that has it, or ask an owner.`
}

const nameOf = (permission: Permission): string =>
  ({
    read: 'the scope read',
    operate: 'the scope operate or write',
    write: 'the scope write',
    manage: 'the attribute manage',
    everywhere: 'access to all regions',
    auditLog: 'the right to read the audit log',
  })[permission]

function wayOutFor(permission: Permission): string {
  const allowed = rolesWith(permission)
  if (permission === 'everywhere') return 'This needs an owner, or an admin of all regions. Ask an owner.'
  return `This needs the role ${allowed.join(' or ')}. Ask an owner.`
}

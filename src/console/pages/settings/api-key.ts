// What a key may do, in words, and whether it still works.
import type { Static } from 'typebox'
import type { Key } from '../../../contract/keys.ts'

export type ApiKey = Static<typeof Key>

export function rightsOf({ scopes, manage }: Pick<ApiKey, 'scopes' | 'manage'>): string {
  const [reads, writes] = [scopes.includes('read'), scopes.includes('write')]
  const plain = reads && writes ? 'Read and write' : writes ? 'Write only' : 'Read only'
  return manage ? `${plain}, manage keys and users` : plain
}

export const isExpired = ({ expiresAt }: ApiKey, now: number = Date.now()): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) <= now

/** Nobody could make keys any more: the service refuses to revoke it. [contract 6.keys] */
export const isLastManager = (key: ApiKey, keys: readonly ApiKey[]): boolean =>
  key.manage &&
  !keys.some(
    (other) =>
      other.id !== key.id &&
      other.manage &&
      !isExpired(other) &&
      (other.scopes.includes('write') || !key.scopes.includes('write')),
  )

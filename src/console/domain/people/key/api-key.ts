// Describes the access of an API key, and says whether it is expired or the last manager key.

import type { Static } from 'typebox'
import type { Key } from '../../../../contract/people/keys.ts'
import { capitalised } from '../../../../contract/words.ts'

export type ApiKey = Static<typeof Key>

/** Write contains operate, so that only the higher of the two is named. */
export function accessText({ scopes, manage }: Pick<ApiKey, 'scopes' | 'manage'>): string {
  const change = scopes.includes('write') ? 'write' : scopes.includes('operate') ? 'operate' : undefined
  const reads = scopes.includes('read')
  const scopeText = change === undefined ? 'Read only' : reads ? `Read and ${change}` : `${capitalised(change)} only`
  return manage ? `${scopeText}, manage keys and people` : scopeText
}

export const isKeyExpired = ({ expiresAt }: ApiKey, now: number = Date.now()): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) <= now

/** The service does not revoke the last key that can create keys. [contract 6.keys] */
export const isLastManagerKey = (key: ApiKey, keys: readonly ApiKey[]): boolean =>
  key.manage &&
  !keys.some(
    (other) =>
      other.id !== key.id &&
      other.manage &&
      !isKeyExpired(other) &&
      (other.scopes.includes('write') || !key.scopes.includes('write')),
  )

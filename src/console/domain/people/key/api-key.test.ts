// Tests the words for the access of API keys.
import { expect, test } from 'vitest'
import { accessText } from './api-key.ts'

test.each([
  [['read'], false, 'Read only'],
  [['operate'], false, 'Operate only'],
  [['read', 'operate'], false, 'Read and operate'],
  [['read', 'operate', 'write'], false, 'Read and write'],
  [['write'], false, 'Write only'],
  [['read', 'write'], true, 'Read and write, manage keys and people'],
] as const)('the access of a key with %s, manage: %s', (scopes, manage, text) => {
  expect(accessText({ scopes: [...scopes], manage })).toBe(text)
})

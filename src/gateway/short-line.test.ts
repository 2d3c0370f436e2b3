// Texts of devices on their way to people: what the server accepts, and without passwords.
import { expect, test } from 'vitest'
import { shortLine, withoutSecrets } from './short-line.ts'

test('a text of a device becomes one line that the server accepts', () => {
  expect(shortLine(' two\r\nlines\u0000 ')).toBe('two lines')
  expect(shortLine('half a pair: \ud83d')).toBe('half a pair: \ufffd')
  expect(shortLine('😀😀😀😀', 3)).toBe('😀😀…')
})

test('no part of a password remains in a text, even if one password starts with the other', () => {
  const item = {
    driver: 'snmp',
    host: '10.20.4.17',
    port: 161,
    secret: 'planted',
    options: { version: '3', privSecret: 'planted-and-longer' },
  } as const
  expect(withoutSecrets(item, 'refused planted-and-longer, planted')).toBe('refused •••, •••')
})

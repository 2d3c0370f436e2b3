// Texts of devices on their way to people: what the server accepts, and without passwords.
import { expect, test } from 'vitest'
import { secretsOfItem, secretsOfSource, shortLine, withoutSecrets } from './short-line.ts'

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
  expect(withoutSecrets(secretsOfItem(item), 'refused planted-and-longer, planted')).toBe('refused •••, •••')
})

test('no secret of a source remains in a text, nor a line of its private key', () => {
  const clientKey =
    '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\nAgEGCCqGSM49AwEHBG0w\n-----END PRIVATE KEY-----\n'
  const secrets = secretsOfSource({ key: 'planted-key', secret: 'planted-password', clientKey })
  const text = `planted-key planted-password AgEGCCqGSM49AwEHBG0w ${clientKey}`
  expect(withoutSecrets(secrets, text)).toBe('••• ••• ••• •••')
  expect(withoutSecrets(secretsOfSource({}), 'nothing to hide')).toBe('nothing to hide')
})

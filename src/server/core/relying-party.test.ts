// Tests at which addresses passkeys can be used. [contract 11.local]
import { expect, test } from 'vitest'
import { passkeyProblemOf, relyingPartyOf } from './relying-party.ts'

test.each([
  ['https://rooms.example.org', 'rooms.example.org', 'https://rooms.example.org'],
  ['https://example.org:8443/rooms', 'example.org', 'https://example.org:8443'],
  ['http://localhost:8080', 'localhost', 'http://localhost:8080'],
])('%s has the RP id %s', (url, id, origin) => {
  expect(relyingPartyOf(url)).toEqual({ id, origin })
  expect(passkeyProblemOf(url)).toBeUndefined()
})

test.each([
  [undefined, '--public-url'],
  ['https://192.0.2.1', '192.0.2.1 is an IP address'],
  ['https://[2001:db8::1]:8443', 'is an IP address'],
  ['http://127.0.0.1:8080', 'is an IP address'],
  ['http://rooms.example.org', 'HTTPS only'],
])('%s has none, and the reason says %s', (url, reason) => {
  expect(relyingPartyOf(url)).toBeUndefined()
  expect(passkeyProblemOf(url)).toContain(reason)
})

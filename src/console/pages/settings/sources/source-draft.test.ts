// Tests what the form of a source sends.
import { expect, test } from 'vitest'
import type { Source } from '../../../../contract/fleet/sources.ts'
import { operations } from '../../../../contract/operations.ts'
import {
  hasSourceMoved,
  hasSourceTarget,
  isSameSourceTarget,
  newSourceDraft,
  sourceCreateBody,
  sourceDraftOf,
  sourceTestBody,
  sourceUpdateBody,
  withoutOtherCertificate,
} from './source-draft.ts'

const pulse = operations.sourcesGet.example.response as Source
const broker: Source = {
  ...pulse,
  type: 'mqtt',
  name: 'Sensors',
  url: 'mqtts://broker.example.com:8883',
  username: 'rk',
  secrets: ['secret'],
}

test('a new Neat Pulse source has the public address and is read only; it needs organisation and key', () => {
  const empty = newSourceDraft('neat-pulse', 'g')
  expect(empty).toMatchObject({ url: 'https://api.pulse.neat.no', write: false })
  expect(hasSourceTarget('neat-pulse', empty)).toBe(false)
  const filled = { ...empty, orgId: ' aBcD123 ', secrets: { ...empty.secrets, key: 'correct horse' } }
  expect(hasSourceTarget('neat-pulse', filled)).toBe(true)
  expect(sourceCreateBody('neat-pulse', { ...filled, fingerprint: 'AB' })).toEqual({
    type: 'neat-pulse',
    gatewayId: 'g',
    url: 'https://api.pulse.neat.no',
    orgId: 'aBcD123',
    key: 'correct horse',
    write: false,
    authority: null,
    fingerprint: 'AB',
  })
})

test('another address deletes the key, so it is needed again; a slash at the end is no other address', () => {
  const draft = sourceDraftOf(pulse)
  expect(hasSourceMoved({ ...draft, url: ` ${pulse.url}/ ` }, pulse)).toBe(false)
  expect(hasSourceTarget('neat-pulse', draft, pulse)).toBe(true)
  const moved = { ...draft, url: 'https://pulse.neat.no/api' }
  expect(hasSourceMoved(moved, pulse)).toBe(true)
  expect(hasSourceTarget('neat-pulse', moved, pulse)).toBe(false)
  const again = { ...moved, secrets: { ...moved.secrets, key: 'other' } }
  expect(sourceUpdateBody(pulse, again)).toMatchObject({ url: 'https://pulse.neat.no/api', key: 'other' })
  expect(sourceTestBody('neat-pulse', again, pulse)).toMatchObject({ sourceId: pulse.id, key: 'other' })
})

test('an unchanged form keeps secrets and mappings, and clears what is empty', () => {
  expect(sourceUpdateBody(broker, sourceDraftOf(broker))).toEqual({
    name: 'Sensors',
    url: 'mqtts://broker.example.com:8883',
    authority: null,
    username: 'rk',
    topics: null,
    clientCertificate: null,
    enrolIntoRoomId: null,
  })
})

test('topics are one on each line, a password can be deleted, and a client certificate needs its key', () => {
  const draft = { ...sourceDraftOf(broker), topics: ' a/# \n\n b/+/c' }
  expect(sourceUpdateBody(broker, { ...draft, cleared: ['secret'] })).toMatchObject({
    topics: ['a/#', 'b/+/c'],
    secret: null,
  })
  expect(hasSourceTarget('mqtt', draft, broker)).toBe(true)
  expect(hasSourceTarget('mqtt', { ...draft, clientCertificate: 'PEM' }, broker)).toBe(false)
  const withKey = { ...draft, clientCertificate: 'PEM', secrets: { ...draft.secrets, clientKey: 'PEM' } }
  expect(hasSourceTarget('mqtt', withKey, broker)).toBe(true)
})

test('a test counts until the target changes, and a certificate is trusted for one address', () => {
  const draft = { ...sourceDraftOf(pulse), fingerprint: 'AB' }
  expect(isSameSourceTarget(draft, { ...draft, name: 'Other', write: true })).toBe(true)
  expect(isSameSourceTarget(draft, { ...draft, orgId: 'x' })).toBe(false)
  expect(withoutOtherCertificate(draft, { ...draft, url: 'https://other.example' }).fingerprint).toBeUndefined()
  expect(withoutOtherCertificate(draft, { ...draft, orgId: 'x' }).fingerprint).toBe('AB')
})

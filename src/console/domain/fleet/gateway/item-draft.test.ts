// Tests what the form of a gateway's device sends, for the fields of the real drivers.
import { expect, test } from 'vitest'
import { type DriverId, drivers } from '../../../../contract/fleet/drivers.ts'
import type { GatewayItem } from './gateway.ts'
import {
  hasMoved,
  hasTarget,
  type ItemDraft,
  isSeldomChanged,
  itemCreateBody,
  itemDraftOf,
  itemTestBody,
  itemUpdateBody,
  newItemDraft,
  shownFields,
} from './item-draft.ts'

const withValues = (draft: ItemDraft, values: ItemDraft['values']): ItemDraft => ({
  ...draft,
  values: { ...draft.values, ...values },
})
const namesOf = (driver: DriverId, draft: ItemDraft) => shownFields(drivers[driver], draft).map(({ name }) => name)

const codec: GatewayItem = {
  ...{ id: 'i', gatewayId: 'g', driver: 'roomos', host: '10.1.0.5', port: 443, username: 'rk', secrets: ['secret'] },
  ...{ options: {}, roomId: 7, roomName: 'Fjord', state: 'CONNECTED', since: '2026-05-04T08:15:30.000Z' },
}

test('a new codec needs address, user and password, and is sent without a port of its own', () => {
  const empty = newItemDraft(drivers.roomos, '7')
  expect(hasTarget(drivers.roomos, empty)).toBe(false)
  const filled = withValues(empty, { host: ' 10.1.0.5 ', username: 'rk', secret: ' with spaces ' })
  expect(hasTarget(drivers.roomos, filled)).toBe(true)
  expect(itemCreateBody(drivers.roomos, { ...filled, name: ' Codec ', fingerprint: 'AB' })).toEqual({
    ...{ driver: 'roomos', host: '10.1.0.5', port: null, username: 'rk', secret: ' with spaces ' },
    ...{ roomId: 7, name: 'Codec', fingerprint: 'AB', options: { losesPowerWithDisplay: false } },
  })
})

test('fields depend on options, and hidden ones are not sent', () => {
  const v2 = withValues(newItemDraft(drivers.snmp, '7'), { host: 'switch', secret: 'public' })
  expect(namesOf('snmp', v2)).toEqual(['host', 'port', 'version', 'secret', 'pollSeconds'])
  const v3 = withValues(v2, { version: '3', username: 'monitor' })
  expect(namesOf('snmp', v3)).toEqual(expect.arrayContaining(['username', 'authProtocol', 'privSecret']))
  expect(itemCreateBody(drivers.snmp, withValues(v3, { version: '2c' })).username).toBeUndefined()
  expect(itemCreateBody(drivers.snmp, v3).options).not.toHaveProperty('privSecret')
  const seldom = (id: DriverId) => drivers[id].fields.filter((f) => isSeldomChanged(f, drivers[id])).map((f) => f.name)
  expect(seldom('snmp')).toEqual(['pollSeconds'])
  expect(seldom('pjlink')).toEqual([
    'challenge',
    'keepOpen',
    'pauseMs',
    'kind',
    'lampLifeHours',
    'filterLifeHours',
    'pollSeconds',
  ])
})

test('an unchanged address keeps the stored password, another one needs it again', () => {
  const draft = itemDraftOf(codec, drivers.roomos)
  expect(hasMoved(drivers.roomos, draft, codec)).toBe(false)
  expect(hasTarget(drivers.roomos, draft, codec)).toBe(true)
  expect(itemUpdateBody(drivers.roomos, draft, codec)).toEqual({
    ...{ driver: 'roomos', host: '10.1.0.5', port: null, username: 'rk', name: null },
    options: { losesPowerWithDisplay: false },
  })
  expect(hasMoved(drivers.roomos, withValues(draft, { port: 443 }), codec)).toBe(false)
  expect(itemTestBody(drivers.roomos, draft, codec).deviceId).toBe('i')
  const moved = withValues(draft, { host: '10.1.0.6' })
  expect(hasMoved(drivers.roomos, moved, codec)).toBe(true)
  expect(hasTarget(drivers.roomos, moved, codec)).toBe(false)
  const complete = withValues(moved, { secret: 'again' })
  expect(hasTarget(drivers.roomos, complete, codec)).toBe(true)
  expect(itemTestBody(drivers.roomos, complete, codec)).not.toHaveProperty('deviceId')
})

test('a password is deleted only if the person says so, and a room is sent only if it is another', () => {
  const item: GatewayItem = { ...codec, driver: 'pjlink', port: 4352, endpointId: 'e' }
  const draft = itemDraftOf(item, drivers.pjlink)
  expect(itemUpdateBody(drivers.pjlink, draft, item)).not.toHaveProperty('secret')
  expect(itemUpdateBody(drivers.pjlink, { ...draft, cleared: ['secret'], roomId: '8' }, item)).toMatchObject({
    secret: null,
    roomId: 8,
  })
  expect(itemUpdateBody(drivers.pjlink, draft, item)).not.toHaveProperty('name')
})

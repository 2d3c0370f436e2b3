// Samples and details of Neat Pulse as this service takes them: nothing that was not measured, nothing of another type.
import { expect, test } from 'vitest'
import { listedDevice } from './answers.ts'
import { mirroredSample } from './mirrored-sample.ts'
import { mirroredStatus, refusalOf } from './mirrored-status.ts'

const device = (fields: object) => listedDevice({ id: 'd1', model: 'NF19B1', connected: true, ...fields }, 'pulse')
const zeros = { co2: 0, humidity: 0, illumination: 0, people: 0, temp: 0, voc: 0, vocIndex: 0, timestamp: '1714960500' }

test('a 0 is left out where the model has no such sensor, and always for CO₂, temperature and humidity', () => {
  const beside = { shutterClosed: true }
  expect(mirroredSample(device({}), { sample: zeros, beside })).toEqual({
    timestamp: 1714960500,
    illumination: 0,
    people: 0,
    voc: 0,
  })
  expect(mirroredSample(device({ model: 'NF23L1' }), { sample: zeros, beside })).toEqual({
    timestamp: 1714960500,
    people: 0,
  })
  const frame = mirroredSample(device({ model: 'NF21F1' }), { sample: { ...zeros, temp: 21.4, people: '3' }, beside })
  const values = { illumination: 0, people: 3, temp: 21.4, vocIndex: 0 }
  expect(frame).toEqual({ timestamp: 1714960500, ...values, shutterClosed: true })
})

test('the answer says what was measured, or else the device of a model that is not known', () => {
  const newModel = device({ model: 'NF99Z9', sensors: ['people'] })
  expect(mirroredSample(newModel, { sample: zeros, beside: {} })).toEqual({ timestamp: 1714960500, people: 0 })
  expect(mirroredSample(device({ model: 'NF99Z9' }), { sample: zeros, beside: {} })).toBeUndefined()
  const measured = { measured: ['voc'] }
  expect(mirroredSample(device({}), { sample: zeros, beside: measured })).toEqual({ timestamp: 1714960500, voc: 0 })
  const board = device({ model: 'NF25M1' })
  expect(mirroredSample(board, { sample: { ...zeros, co2: 610 }, beside: {} })).toMatchObject({ co2: 610 })
})

test('a sample without a time, or with values that cannot be, is left out', () => {
  for (const timestamp of [undefined, '', 'soon', 0, -5])
    expect(mirroredSample(device({}), { sample: { ...zeros, timestamp }, beside: {} })).toBeUndefined()
  const wild = { ...zeros, co2: 1e9, temp: 'NaN', humidity: null, people: -1, illumination: {}, voc: 3 }
  expect(mirroredSample(device({}), { sample: wild, beside: {} })).toEqual({ timestamp: 1714960500, voc: 3 })
})

test('a status has every field that both sides know, and none of another type', () => {
  const network = {
    type: 'NETWORK_TYPE_ETHERNET',
    display: null,
    addresses: [{ address: { ipv4: 'wKgBFA==' }, prefix: 24 }],
  }
  const known = { name: 'Fjord Bar', inCallStatus: 'ZOOM', startedAt: '2026-05-04T08:15:30.000Z', volume: 40 }
  const details = {
    ...known,
    networks: [network],
    id: 'd1',
    serial: 'NB1',
    roomName: 'Fjord',
    actions: ['reboot'],
    supports: ['gateway'],
    firmwareVersion: 7,
    primaryMode: 'something new',
    muted: null,
    newField: 'x',
  }
  const { display: _, ...rest } = network
  expect(mirroredStatus(details)).toEqual({ ...known, networks: [rest] })
  expect(mirroredStatus({ name: 'x'.repeat(300) }).name).toHaveLength(100)
  expect(mirroredStatus({ startedAt: 'yesterday', volume: 4000, inCallStatus: 'ZOOM' })).toEqual({
    inCallStatus: 'ZOOM',
  })
})

test('gateways, the own gateway and devices that are mirrored there are refused', () => {
  expect(refusalOf(device({}), 'own')).toBeUndefined()
  expect(refusalOf(device({ via: 'g1' }), 'own')).toBeUndefined()
  expect(refusalOf(device({ kind: 'GATEWAY' }), 'own')).toContain('a gateway')
  expect(refusalOf(device({}), 'd1')).toContain('the gateway itself')
  expect(refusalOf(device({ sourceType: 'neat-pulse' }), 'own')).toContain('itself mirrored')
})

// Tests that plans are repeatable, and that simulated devices send only what the protocol allows.
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runCount } from '../../test/support/long-form.ts'
import { configKeys, EndpointSettings } from '../contract/device/config-keys.ts'
import { modelOf, sensorRanges } from '../contract/device/models.ts'
import { SampleReport, StatusReport } from '../contract/device/protocol.ts'
import { hourMs, minuteMs } from '../contract/durations.ts'
import { factoryDefaults } from './factory-settings.ts'
import { initialStatus } from './hardware.ts'
import { type FleetDevice, planFleet } from './plan.ts'
import { displayPower, productCondition, productStatus } from './product-status.ts'
import { type ProductId, productOf, products } from './products.ts'
import { isInCall, makeSample, peopleIn } from './room-day.ts'

const sizes = fc.record({
  endpoints: fc.integer({ min: 1, max: 400 }),
  rooms: fc.integer({ min: 1, max: 90 }),
  locations: fc.integer({ min: 1, max: 70 }),
  regions: fc.integer({ min: 1, max: 9 }),
})

test('a plan has the size that was asked for, and follows from seed and organisation', () => {
  fc.assert(
    fc.property(sizes, fc.nat(), (size, seed) => {
      const plan = planFleet(size, seed, 'LXJ45kN')
      expect(plan).toEqual(planFleet(size, seed, 'LXJ45kN'))
      expect([plan.devices, plan.rooms, plan.locations, plan.regions].map((list) => list.length)).toEqual([
        size.endpoints,
        size.rooms,
        size.locations,
        size.regions,
      ])
      const serials = new Set(plan.devices.map((d) => d.serial))
      expect(serials.size, 'no serial number twice').toBe(size.endpoints)
      for (const { serial, pairingSerial, room } of plan.devices) {
        if (pairingSerial === undefined) continue
        const leader = plan.devices.find((d) => d.serial === pairingSerial)
        expect(leader?.room, 'the leader is in the same room').toBe(room)
        expect(leader?.pairedSerials, 'and lists it').toContain(serial)
      }
      const roomKeys = plan.rooms.map(({ name, location }) => `${location}/${name}`)
      expect(new Set(roomKeys).size, 'rooms of a location have names of their own').toBe(size.rooms)
      const placeKeys = plan.locations.map(({ name, region }) => `${region}/${name}`)
      expect(new Set(placeKeys).size, 'and so have locations of a region').toBe(size.locations)
      expect(new Set(plan.regions).size).toBe(size.regions)
      if (size.endpoints >= size.rooms) expect(new Set(plan.devices.map((d) => d.room)).size).toBe(size.rooms)
      const other = planFleet(size, seed, 'another').devices
      expect(
        other.some(({ serial }) => serials.has(serial)),
        'another organisation, other serial numbers',
      ).toBe(false)
    }),
    { numRuns: runCount({ short: 15, full: 50, long: 50 }) },
  )
})

const { devices, rooms } = planFleet({ endpoints: 300, rooms: 100, locations: 12, regions: 3 }, 1, 'LXJ45kN')

test('every device reports settings that an answer may have, as its model and its country suggest', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const isSettings = ajv.compile(EndpointSettings)
  const settings = devices.map((device) => ({ ...device, ...factoryDefaults(device) }))
  for (const device of devices) {
    expect(isSettings(factoryDefaults(device)), ajv.errorsText(isSettings.errors)).toBe(true)
    expect(Object.keys(factoryDefaults(device)).filter((name) => configKeys[name]?.secret)).toEqual([])
  }
  const valuesOf = (key: string) => new Set(settings.map((device) => (device as Record<string, unknown>)[key]))
  for (const key of [
    'language',
    'dateFormat',
    'temperatureUnit',
    'time24h',
    'brightness',
    'nightMode',
    'wifiEnabled',
  ]) {
    expect(valuesOf(key).size, key).toBeGreaterThan(1)
  }
  for (const device of settings) expect('hdmiCecControl' in device).toBe(device.controllerMode === undefined)
})

const isWithin = (value: number | null | undefined, { min, max }: { min: number; max: number }): boolean =>
  typeof value === 'number' && value >= min && value <= max

test('every device sends what the protocol allows, and only what its model can measure', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const isStatus = ajv.compile(StatusReport)
  const isSamples = ajv.compile(SampleReport)
  expect(new Set(devices.map((d) => d.model)).size, 'all models are there').toBe(11)
  const begin = Date.parse('2026-05-04T00:00:00Z')
  for (const device of devices) {
    expect(isStatus(initialStatus(device, factoryDefaults(device))), ajv.errorsText(isStatus.errors)).toBe(true)
    const samples = Array.from({ length: 60 }, (_, n) => makeSample(device, begin + n * 7_919_000, n))
    expect(isSamples({ samples }), ajv.errorsText(isSamples.errors)).toBe(true)
    const { sensors = [], shutter } = modelOf(device.model)
    const measured = [...sensors].sort().join()
    const isWrong = ({ timestamp, shutterClosed, ...values }: (typeof samples)[number]) =>
      Object.keys(values).sort().join() !== measured ||
      sensors.some((sensor) => !isWithin(values[sensor], sensorRanges[sensor])) ||
      (shutterClosed === undefined) !== (shutter === undefined) ||
      timestamp < 0
    expect(samples.filter(isWrong), device.model).toEqual([])
  }
})

test('people meet by day, where the room is, and not at the weekend', () => {
  const taken = (utc: string, timezone: string) => {
    const there = rooms.filter((room) => room.timezone === timezone)
    expect(there.length).toBeGreaterThan(5)
    return there.filter((room) => peopleIn(room, Date.parse(utc)) > 0).length / there.length
  }
  expect(taken('2026-05-05T08:20:00Z', 'Europe/Oslo')).toBeGreaterThan(0.4)
  expect(taken('2026-05-05T08:20:00Z', 'America/New_York')).toBe(0)
  expect(taken('2026-05-05T14:20:00Z', 'America/New_York')).toBeGreaterThan(0.4)
  expect(taken('2026-05-09T08:20:00Z', 'Europe/Oslo')).toBeLessThan(0.2)
  const day = Date.parse('2026-05-05T00:00:00Z')
  const times = Array.from({ length: 288 }, (_, n) => day + n * 300_000)
  for (const room of rooms) {
    expect(times.filter((at) => !isWithin(peopleIn(room, at), { min: 0, max: room.seats }))).toEqual([])
    expect(times.filter((at) => isInCall(room, at) && peopleIn(room, at) === 0)).toEqual([])
  }
})

const mixedSize = { endpoints: 60, rooms: 24, locations: 6, regions: 3, otherMakers: true }
const mixed = planFleet(mixedSize, 1, 'LXJ45kN').devices
const withProduct = mixed.flatMap((device) => {
  const product = productOf(device)
  return product ? [{ device, product }] : []
})
const ofProduct = (id: ProductId) => mixed.filter(({ product }) => product === id)
const firstOf = (id: ProductId) => ofProduct(id).find(({ isFirstOfProduct }) => isFirstOfProduct) as FleetDevice

test('every fourth room has devices of several makers, which report what the protocol allows and measure what they say', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const isStatus = ajv.compile(StatusReport)
  const isSamples = ajv.compile(SampleReport)
  expect(mixed).toHaveLength(60)
  expect(new Set(mixed.map(({ serial }) => serial)).size).toBe(60)
  expect(new Set(withProduct.map(({ device }) => device.room)).size).toBe(6)
  expect(new Set(withProduct.map(({ product }) => product.kind))).toEqual(
    new Set(['CODEC', 'DISPLAY', 'SENSOR', 'PROJECTOR', 'POWER']),
  )
  expect(mixed.filter(({ isFirstOfProduct }) => isFirstOfProduct)).toHaveLength(Object.keys(products).length)
  const at = Date.parse('2026-05-05T08:20:00Z')
  for (const { device, product } of withProduct) {
    const moment = { ageMs: 2 * hourMs, at, power: 'ON' as const }
    const status = { ...productStatus(device, product, at), ...productCondition(device, moment) }
    expect(isStatus(status), ajv.errorsText(isStatus.errors)).toBe(true)
    expect(status, device.model).toMatchObject({
      kind: product.kind,
      actions: product.actions,
      sensors: product.sensors,
    })
    expect(factoryDefaults(device), 'no settings').toEqual({})
    const { timestamp, ...values } = makeSample(device, at, 1)
    expect(Object.keys(values).sort()).toEqual([...product.sensors].sort())
    if (product.sensors.length > 0) expect(isSamples({ samples: [{ timestamp, ...values }] })).toBe(true)
  }
  const plain = planFleet({ ...mixedSize, otherMakers: false }, 1, 'LXJ45kN').devices
  expect(
    plain.filter(({ product }) => product),
    'only if they are asked for',
  ).toEqual([])
})

test('displays sleep at night, where their room is, and the first one naps by day', () => {
  const [nappingDisplay, ...others] = ofProduct('display')
  expect(nappingDisplay).toBe(firstOf('display'))
  expect(others.length).toBeGreaterThan(0)
  const day = Date.parse('2026-05-05T00:00:00Z')
  const minutes = Array.from({ length: 24 * 60 }, (_, n) => day + n * minuteMs)
  const asleepMinutes = (display: FleetDevice) => minutes.filter((at) => displayPower(display, at) === 'STANDBY').length
  for (const display of others) expect(asleepMinutes(display)).toBe(12 * 60)
  expect(asleepMinutes(nappingDisplay as FleetDevice)).toBe(12 * 60 + 12 * 18)
  const inOslo = {
    ...(others[0] as FleetDevice),
    room: { ...(others[0] as FleetDevice).room, timezone: 'Europe/Oslo' },
  }
  const powerAt = (utc: string) => displayPower(inOslo, Date.parse(utc))
  expect([powerAt('2026-05-05T16:59:00Z'), powerAt('2026-05-05T17:00:00Z')]).toEqual(['ON', 'STANDBY'])
  expect([powerAt('2026-05-06T04:59:00Z'), powerAt('2026-05-06T05:00:00Z')]).toEqual(['STANDBY', 'ON'])
})

interface Condition {
  readonly readings?: readonly { readonly name: string; readonly value: number }[]
  readonly faults?: readonly { readonly code: string }[]
  readonly peripherals?: readonly { readonly id: string; readonly connected: boolean }[]
}

test('one lamp wears out, one camera is lost after five minutes, and an outlet that is off draws nothing', () => {
  const at = Date.parse('2026-05-05T08:20:00Z')
  const after = (device: FleetDevice, ageMs: number, power: 'ON' | 'OFF' = 'ON') =>
    productCondition(device, { ageMs, at, power }) as Condition
  const lamp = (ageMs: number) => {
    const { readings = [], faults = [] } = after(firstOf('projector'), ageMs)
    return [readings.find(({ name }) => name === 'lampHours')?.value, faults.map(({ code }) => code).join()]
  }
  expect(lamp(0)).toEqual([19_996, ''])
  expect(lamp(119_000)).toEqual([19_999, ''])
  expect(lamp(120_000)).toEqual([20_000, 'lamp.end'])
  expect(lamp(30 * 24 * hourMs)).toEqual([20_012, 'lamp.end'])
  for (const projector of ofProduct('projector').filter((one) => one !== firstOf('projector'))) {
    expect(after(projector, 30 * 24 * hourMs).faults).toEqual([])
  }
  const missing = (codec: FleetDevice, ageMs: number) =>
    after(codec, ageMs)
      .peripherals?.filter(({ connected }) => !connected)
      .map(({ id }) => id)
  expect(missing(firstOf('codec'), 4 * minuteMs)).toEqual([])
  expect(missing(firstOf('codec'), 5 * minuteMs)).toEqual(['camera'])
  for (const codec of ofProduct('codec').filter((one) => one !== firstOf('codec'))) {
    expect(missing(codec, 30 * 24 * hourMs)).toEqual([])
  }
  const [outlet] = ofProduct('outlet') as [FleetDevice]
  expect(after(outlet, 0, 'OFF').readings).toEqual([{ name: 'powerDraw', value: 0, unit: 'W' }])
  expect(after(outlet, 0).readings?.[0]?.value).toBeGreaterThan(0)
})

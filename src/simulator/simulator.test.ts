// Tests that plans are repeatable, and that simulated devices send only what the protocol allows.
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runCount } from '../../test/support/long-form.ts'
import { configKeys, EndpointSettings } from '../contract/device/config-keys.ts'
import { modelOf, sensorRanges } from '../contract/device/models.ts'
import { SampleReport, StatusReport } from '../contract/device/protocol.ts'
import { factoryDefaults } from './factory-settings.ts'
import { initialStatus } from './hardware.ts'
import { planFleet } from './plan.ts'
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

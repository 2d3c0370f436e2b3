// The status of devices of other makers as time passes: power, signal, lamp hours, faults, peripherals.
import type { UpMessage } from '../contract/device/protocol.ts'
import { dayMs, hourMs, minuteMs, secondMs } from '../contract/durations.ts'
import { networksOf } from './hardware.ts'
import type { FleetDevice } from './plan.ts'
import type { Product } from './products.ts'
import { isInCall, isNight, minuteOfDay, peopleIn } from './room-day.ts'
import { between, seededRandom } from './seeded-random.ts'

type Status = UpMessage<'status'>

/** The part of the status that stays as it is. Devices start at different times before `now`. */
export function productStatus(device: FleetDevice, product: Product, now: number): Status {
  const { model: _, hasPower, name, actions, sensors, ...described } = product
  const { room, seed } = device
  const isCodec = device.product === 'codec'
  return {
    ...described,
    name: `${name} ${room.name}`,
    actions: [...actions],
    sensors: [...sensors],
    startedAt: new Date(now - between(1, 20, seededRandom(seed, 50)) * dayMs).toISOString(),
    timezone: room.timezone,
    ...networksOf(device),
    ...(hasPower && { power: 'ON' }),
    ...(isCodec && {
      appVersion: '6.2.0',
      inCallStatus: 'NONE',
      primaryMode: room.primaryMode,
      volume: 45,
      muted: false,
    }),
    ...(device.product === 'display' && { inputs: ['HDMI 1', 'HDMI 2', 'USB-C'], activeInput: 'HDMI 1', volume: 30 }),
    ...(device.product === 'projector' && { inputs: ['HDMI 1', 'HDBaseT'], activeInput: 'HDBaseT' }),
    ...(device.product === 'projector' && { facts: [{ name: 'lensType', text: 'Short throw' }] }),
  }
}

export interface Moment {
  /** Since the first run of the device. */
  readonly ageMs: number
  /** The simulated time. */
  readonly at: number
  readonly power: 'ON' | 'STANDBY' | 'OFF' | undefined
}

/** The part of the status that changes as time passes. */
export function productCondition(device: FleetDevice, moment: Moment): Status {
  if (device.product === 'projector') return projectorCondition(device, moment)
  if (device.product === 'display') return signalOf(device, moment, '3840x2160')
  if (device.product === 'codec') return { peripherals: peripheralsOf(device, moment) }
  if (device.product === 'outlet') return outletCondition(device, moment)
  return {}
}

/** Lamps last for this long. */
const lampLifeHours = 20_000
/** The lamp that wears out does so while a visitor watches. */
const lampHourMs = 30 * secondMs
const lampEnd = {
  code: 'lamp.end',
  level: 'WARNING',
  text: 'The lamp has reached the end of its life. Replace it.',
} as const

function projectorCondition(device: FleetDevice, moment: Moment): Status {
  const worn = Math.min(lampLifeHours - 4 + moment.ageMs / lampHourMs, lampLifeHours + 12)
  const healthy = between(400, 9_000, seededRandom(device.seed, 51)) + moment.ageMs / hourMs
  const lampHours = Math.floor(device.isFirstOfProduct ? worn : healthy)
  const intake = (moment.power === 'ON' ? 31 : 23) + between(0, 3, seededRandom(device.seed, minutesOf(moment), 52))
  return {
    ...signalOf(device, moment, '1920x1200'),
    readings: [
      { name: 'lampHours', value: lampHours, unit: 'h' },
      { name: 'intakeTemperature', value: intake, unit: '°C' },
    ],
    faults: lampHours >= lampLifeHours ? [lampEnd] : [],
  }
}

const minutesOf = ({ at }: Moment) => Math.floor(at / minuteMs)

/** Screens receive a signal while people are in the room. */
const signalOf = ({ room }: FleetDevice, { at, power }: Moment, resolution: string): Status => ({
  inputResolution: power === 'ON' && peopleIn(room, at) > 0 ? resolution : '',
})

/** The rule of the demo takes a peripheral for missing if it was connected for three minutes before; the default is an hour. */
const cameraLostAfterMs = 5 * minuteMs

const peripheralsOf = (
  { seed, isFirstOfProduct }: FleetDevice,
  { ageMs }: Moment,
): NonNullable<Status['peripherals']> => {
  const serial = (salt: number) => `${between(100_000, 999_999, seededRandom(seed, salt))}`
  const isCameraLost = isFirstOfProduct === true && ageMs >= cameraLostAfterMs
  return [
    { id: 'camera', name: 'Wall camera', kind: 'CAMERA', serial: serial(53), version: '3.1', connected: !isCameraLost },
    {
      id: 'microphone',
      name: 'Table microphone',
      kind: 'MICROPHONE',
      serial: serial(54),
      version: '1.8',
      connected: true,
    },
  ]
}

function outletCondition({ room, seed }: FleetDevice, moment: Moment): Status {
  const isInUse = isInCall(room, moment.at)
  const watts = (isInUse ? 180 : 35) + between(0, 9, seededRandom(seed, minutesOf(moment), 55))
  return { readings: [{ name: 'powerDraw', value: moment.power === 'ON' ? watts : 0, unit: 'W' }] }
}

/** Displays sleep at night. The first one also naps by day, three minutes of every ten, for visitors. */
export function displayPower({ room, isFirstOfProduct }: FleetDevice, at: number): 'ON' | 'STANDBY' {
  const isNapping = isFirstOfProduct === true && minuteOfDay(room, at) % 10 >= 7
  return isNight(room, at) || isNapping ? 'STANDBY' : 'ON'
}

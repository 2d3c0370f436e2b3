// Plans the rooms and devices of a fleet. The plan depends only on size, seed and owner.

import { numberedName, regionsWithCities, roomNames } from './place-names.ts'
import { isProduct, type ProductId, products } from './products.ts'
import { between, hashSeed, pick, seededRandom } from './seeded-random.ts'

/** Serial numbers have three digits for the device within its room. */
export const maxDevicesPerRoom = 500

export interface FleetSize {
  readonly endpoints: number
  readonly rooms: number
  readonly locations: number
  readonly regions: number
  /** Every fourth room has devices of other makers. */
  readonly otherMakers?: boolean
}

export interface FleetLocation {
  readonly name: string
  readonly region: number
  readonly timezone: string
}

export interface FleetRoom {
  readonly name: string
  readonly location: number
  readonly timezone: string
  readonly seats: number
  readonly seed: number
  /** The application that its devices run. */
  readonly primaryMode: 'zoom' | 'msteams' | 'avos'
}

export interface FleetDevice {
  readonly serial: string
  readonly model: string
  readonly room: FleetRoom
  readonly seed: number
  /** The serial number of the leader of its pair group. */
  readonly pairingSerial?: string
  /** On a leader: the serial numbers of the devices that are paired with it. */
  readonly pairedSerials?: readonly string[]
  /** The product of another maker; absent for models that the service knows. */
  readonly product?: ProductId
  /** The first device of its product shows what can happen to such a device. */
  readonly isFirstOfProduct?: true
  /** The use of a pad; absent for other devices. */
  readonly controllerMode?: 'controller' | 'schedule'
}

export interface FleetPlan {
  readonly regions: readonly string[]
  readonly locations: readonly FleetLocation[]
  readonly rooms: readonly FleetRoom[]
  readonly devices: readonly FleetDevice[]
}

const pads = ['NF19A1', 'NF19A1', 'NF25J1']
/** The devices of a room: a leader, then the devices that are paired with it. A kit that is listed more often is used for more rooms. */
const kits: readonly (readonly string[])[] = [
  ['NF19B1', 'pad'],
  ['NF19B1', 'pad'],
  ['NF19B1', 'pad'],
  ['NF22E1', 'pad'],
  ['NF21D1', 'pad'],
  ['NF21D1', 'pad', 'NF23L1'],
  ['NF21F1'],
  ['NF21F1'],
  ['NF20C1'],
  ['NF22H1'],
  ['NF25M1'],
  ['NF23K1', 'pad'],
]
/** Rooms with devices of other makers have these in turn. */
const mixedKits: readonly (readonly string[])[] = [
  ['codec', 'display', 'sensor'],
  ['codec', 'projector', 'outlet'],
  ['NF19B1', 'pad', 'display', 'sensor'],
]
/** Devices that are added to a room that has its kit; most often a pad that shows the schedule. */
const extras = ['schedule', 'schedule', 'schedule', 'schedule', 'NF21F1', 'NF22H1']

const regionNames = regionsWithCities.map(({ name }) => name)

/** `owner` makes serial numbers differ between organisations: a serial number can be enrolled in only one. */
export function planFleet(size: FleetSize, seed: number, owner: string): FleetPlan {
  const locations = makeList(size.locations, (n): FleetLocation => {
    const region = n % size.regions
    const { cities } = regionsWithCities[region % regionsWithCities.length] as (typeof regionsWithCities)[number]
    // Regions that repeat a name use different cities of it.
    const place = Math.floor(n / size.regions) + Math.floor(region / regionsWithCities.length)
    const { name, timezone } = cities[place % cities.length] as (typeof cities)[number]
    return { name: numberedName([name], Math.floor(n / size.regions / cities.length)), region, timezone }
  })
  const rooms = makeList(size.rooms, (n): FleetRoom => {
    const location = n % size.locations
    const { timezone } = locations[location] as FleetLocation
    const at = (salt: number) => seededRandom(seed, n, salt)
    return {
      name: numberedName(rotate(roomNames, location * 7), Math.floor(n / size.locations)),
      location,
      timezone,
      seats: between(2, 14, at(1) ** 2),
      seed: Math.floor(at(2) * 2 ** 31),
      primaryMode: pick(['zoom', 'zoom', 'msteams', 'msteams', 'avos'], at(3)),
    }
  })
  return {
    regions: makeList(size.regions, (n) => numberedName(regionNames, n)),
    locations,
    rooms,
    devices: planDevices(rooms, size, seed, hashSeed(`${seed}/${owner}`)),
  }
}

function planDevices(
  rooms: readonly FleetRoom[],
  { endpoints, otherMakers = false }: FleetSize,
  seed: number,
  owner: number,
): FleetDevice[] {
  const tag = owner.toString(36).toUpperCase().padStart(7, '0').slice(-5)
  const plannedRooms = rooms.map((room, n) => ({ room, n, devices: [] as FleetDevice[] }))
  const seen = new Set<ProductId>()
  let remaining = endpoints
  const add = ({ room, n, devices }: (typeof plannedRooms)[number], what: string, leader?: string) => {
    const at = (salt: number) => seededRandom(seed, n, devices.length, salt)
    const isPad = what === 'pad' || what === 'schedule'
    const product = isProduct(what) ? what : undefined
    const model = product ? products[product].model : isPad ? pick(pads, at(4)) : what
    remaining--
    devices.push({
      serial: `${product ? model.slice(0, 2) : `N${model[4]}`}${tag}${padNumber(n, 5)}${padNumber(devices.length, 3)}`,
      model,
      room,
      seed: Math.floor(at(5) * 2 ** 31),
      ...(product && { product }),
      ...(product && !seen.has(product) && { isFirstOfProduct: true }),
      ...(leader !== undefined && !product && { pairingSerial: leader }),
      ...(isPad && { controllerMode: what === 'schedule' ? 'schedule' : 'controller' }),
    })
    if (product) seen.add(product)
  }
  // Every room gets a kit first, as far as the devices suffice; then the rooms get one more device each, in turn.
  for (const target of plannedRooms) {
    const emptyRooms = rooms.length - target.n - 1
    const kit = kitOf(target.n, seed, otherMakers).slice(0, Math.max(1, remaining - emptyRooms))
    for (const what of kit) if (remaining > 0) add(target, what, target.devices[0]?.serial)
  }
  while (remaining > 0) {
    for (const target of plannedRooms) {
      if (remaining > 0) add(target, pick(extras, seededRandom(seed, target.n, target.devices.length, 7)))
    }
  }
  return plannedRooms.flatMap(({ devices }) => devices.map((device) => withPaired(device, devices)))
}

const kitOf = (n: number, seed: number, otherMakers: boolean): readonly string[] =>
  otherMakers && n % 4 === 3
    ? (mixedKits[Math.floor(n / 4) % mixedKits.length] as readonly string[])
    : pick(kits, seededRandom(seed, n, 6))

function withPaired(device: FleetDevice, all: readonly FleetDevice[]): FleetDevice {
  const paired = all.filter(({ pairingSerial }) => pairingSerial === device.serial)
  return paired.length === 0 ? device : { ...device, pairedSerials: paired.map(({ serial }) => serial) }
}

const makeList = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const rotate = <T>(list: readonly T[], by: number): T[] => list.map((_, n) => list[(n + by) % list.length] as T)
const padNumber = (n: number, width: number) => String(n).padStart(width, '0')

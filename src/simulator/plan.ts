// The plan of a fleet: which rooms there are and which devices stand in them. It follows from seed and size alone.
import { between, chance, pick, seedOf } from './chance.ts'
import { numbered, regions, roomNames } from './places.ts'

/** More would not have serial numbers of their own. */
export const mostInRoom = 500

export interface Size {
  readonly endpoints: number
  readonly rooms: number
  readonly locations: number
  readonly regions: number
}

export interface PlannedLocation {
  readonly name: string
  readonly region: number
  readonly timezone: string
}

export interface PlannedRoom {
  readonly name: string
  readonly location: number
  readonly timezone: string
  readonly seats: number
  readonly seed: number
  /** Which application its devices run. */
  readonly primaryMode: 'zoom' | 'msteams' | 'avos'
}

export interface PlannedDevice {
  readonly serial: string
  readonly model: string
  readonly room: PlannedRoom
  readonly seed: number
  /** Serial number of its leader. */
  readonly pairingSerial?: string
  /** Of a leader: serial numbers of those that it leads. */
  readonly pairedSerials?: readonly string[]
  /** What a pad is used as. */
  readonly controllerMode?: 'controller' | 'schedule'
}

export interface Plan {
  readonly regions: readonly string[]
  readonly locations: readonly PlannedLocation[]
  readonly rooms: readonly PlannedRoom[]
  readonly devices: readonly PlannedDevice[]
}

const pads = ['NF19A1', 'NF19A1', 'NF25J1']
/** What stands in a room: a leader, then what is paired with it. The more often a kit is here, the more rooms have it. */
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
/** What is added to a room that has its kit; most often a pad at the door. */
const extras = ['schedule', 'schedule', 'schedule', 'schedule', 'NF21F1', 'NF22H1']

const regionNames = regions.map(({ name }) => name)

/** `owner` keeps fleets apart: a serial number is enrolled in one organisation alone. */
export function planFleet(size: Size, seed: number, owner: string): Plan {
  const locations = upTo(size.locations, (n): PlannedLocation => {
    const region = n % size.regions
    const { cities } = regions[region % regions.length] as (typeof regions)[number]
    // Several regions of the same name share its cities.
    const place = Math.floor(n / size.regions) + Math.floor(region / regions.length)
    const { name, timezone } = cities[place % cities.length] as (typeof cities)[number]
    return { name: numbered([name], Math.floor(n / size.regions / cities.length)), region, timezone }
  })
  const rooms = upTo(size.rooms, (n): PlannedRoom => {
    const location = n % size.locations
    const { timezone } = locations[location] as PlannedLocation
    const at = (what: number) => chance(seed, n, what)
    return {
      name: numbered(turned(roomNames, location * 7), Math.floor(n / size.locations)),
      location,
      timezone,
      seats: between(2, 14, at(1) ** 2),
      seed: Math.floor(at(2) * 2 ** 31),
      primaryMode: pick(['zoom', 'zoom', 'msteams', 'msteams', 'avos'], at(3)),
    }
  })
  return {
    regions: upTo(size.regions, (n) => numbered(regionNames, n)),
    locations,
    rooms,
    devices: furnish(rooms, size.endpoints, seed, seedOf(`${seed}/${owner}`)),
  }
}

function furnish(rooms: readonly PlannedRoom[], endpoints: number, seed: number, owner: number): PlannedDevice[] {
  const tag = owner.toString(36).toUpperCase().padStart(7, '0').slice(-5)
  const furnished = rooms.map((room, n) => ({ room, n, devices: [] as PlannedDevice[] }))
  let left = endpoints
  const add = ({ room, n, devices }: (typeof furnished)[number], what: string, leader?: string) => {
    const at = (thing: number) => chance(seed, n, devices.length, thing)
    const isPad = what === 'pad' || what === 'schedule'
    const model = isPad ? pick(pads, at(4)) : what
    left--
    devices.push({
      serial: `N${model[4]}${tag}${pad(n, 5)}${pad(devices.length, 3)}`,
      model,
      room,
      seed: Math.floor(at(5) * 2 ** 31),
      ...(leader !== undefined && { pairingSerial: leader }),
      ...(isPad && { controllerMode: what === 'schedule' ? 'schedule' : 'controller' }),
    })
  }
  // First something for every room, as far as it goes; then more for each, in turn.
  for (const here of furnished) {
    const emptyRooms = rooms.length - here.n - 1
    const kit = pick(kits, chance(seed, here.n, 6)).slice(0, Math.max(1, left - emptyRooms))
    for (const what of kit) if (left > 0) add(here, what, here.devices[0]?.serial)
  }
  while (left > 0) {
    for (const here of furnished) {
      if (left > 0) add(here, pick(extras, chance(seed, here.n, here.devices.length, 7)))
    }
  }
  return furnished.flatMap(({ devices }) => devices.map((device) => withPaired(device, devices)))
}

function withPaired(device: PlannedDevice, all: readonly PlannedDevice[]): PlannedDevice {
  const paired = all.filter(({ pairingSerial }) => pairingSerial === device.serial)
  return paired.length === 0 ? device : { ...device, pairedSerials: paired.map(({ serial }) => serial) }
}

const upTo = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const turned = <T>(list: readonly T[], by: number): T[] => list.map((_, n) => list[(n + by) % list.length] as T)
const pad = (n: number, width: number) => String(n).padStart(width, '0')

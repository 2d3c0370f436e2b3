// An hour of changes on both sides of a mirror, at the usual pace: what differs after five minutes, and at the end.
// MIRROR_MINUTES and MIRROR_PAIRS shorten it.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hourMs, minuteMs, secondMs } from '../../../src/contract/durations.ts'
import { usualPulseTimes } from '../../../src/gateway/sources/neat-pulse/pulse-session.ts'
import type { LiveDevice } from '../../support/devices/agent-device.ts'
import type { Harness } from '../../support/harness.ts'
import { residentMiB } from '../../support/resident-memory.ts'
import { MirrorWorld, type SideDifference, startTwo } from '../../support/sources/mirror-world.ts'

const minutes = Number(process.env.MIRROR_MINUTES ?? 60)
const pairCount = Number(process.env.MIRROR_PAIRS ?? 100)
const firstLookMs = 5 * minuteMs
const roundMs = 5 * secondMs
/** Within this time a setting is changed on one side only: otherwise the test could not tell which change was last. */
const apartMs = 3 * minuteMs
const sameWithinMs = 90 * secondMs
const configSameWithinMs = 15 * minuteMs
/** Each takes any number, and no profile of the test has them. */
const configKeys = ['layoutMaxPersons', 'digitalSignageTimeout'] as const

let upstream: Harness
let harness: Harness
beforeAll(async () => {
  ;({ upstream, harness } = await startTwo())
})
afterAll(() => Promise.all([upstream.close(), harness.close()]))

interface LastSetting {
  readonly side: 'here' | 'there'
  readonly value: number
  readonly atMs: number
}

/** Changes everything that people and devices can change, on both sides. */
class Changes {
  readonly world: MirrorWorld
  /** By the identifier of the device there, and the key. */
  readonly settings = new Map<string, LastSetting>()
  readonly roomsHere = new Map<string, number>()
  readonly counts: Record<string, number> = {}
  readonly #pairs: ReadonlyMap<string, string>
  readonly #rooms: readonly number[]
  #away: readonly LiveDevice[] = []

  constructor(world: MirrorWorld, pairs: ReadonlyMap<string, string>, rooms: readonly number[]) {
    this.world = world
    this.#pairs = pairs
    this.#rooms = rooms
  }

  /** Different devices take part in each kind of change: the strides have no common factor with the number of devices. */
  #device(count: number, stride: number): LiveDevice {
    const { devices } = this.world
    return devices[(count * stride) % devices.length] as LiveDevice
  }

  async round(count: number): Promise<void> {
    const { world } = this
    const { there, here } = world
    await this.#flap(count)
    const renamed = this.#device(count, 7)
    await world.write(there, 'PUT', `/endpoints/${renamed.id}`, { name: `Renamed ${count}` })
    this.#device(count, 11).reportStatus({ volume: count % 100, inCallStatus: count % 2 ? 'ZOOM' : 'NONE' })
    for (let i = 0; i < 10; i++) await this.#sample(this.#device(count * 10 + i, 1), 500 + (count % 1_000))
    await this.#set('there', this.#device(count, 13), configKeys[count % 2] ?? configKeys[0], count)
    await this.#set('here', this.#device(count, 17), configKeys[(count >> 1) % 2] ?? configKeys[0], 100_000 + count)
    if (count % 3 === 0) {
      const roomId = world.rooms[count % world.rooms.length]
      const moved = this.#device(count, 19)
      await world.write(there, 'POST', '/endpoints/move_paired', { endpointIds: [moved.id], roomId })
      this.#count('moved there')
    }
    if (count % 4 === 0) {
      const roomId = world.rooms[(count * 3) % world.rooms.length]
      await world.write(there, 'PUT', `/rooms/${roomId}`, { name: `Room there ${count}` })
      this.#count('rooms renamed there')
    }
    if (count % 5 === 0) {
      const device = this.#device(count, 23)
      const name = `Named here ${count}`
      await world.write(here, 'PUT', `/endpoints/${this.#ours(device)}`, { name })
      world.namesHere.set(device.id, name)
      this.#count('renamed here')
    }
    if (count % 6 === 0) {
      const device = this.#device(count, 29)
      const roomId = this.#rooms[count % this.#rooms.length] as number
      await world.write(here, 'POST', '/endpoints/move_paired', { endpointIds: [this.#ours(device)], roomId })
      this.roomsHere.set(device.id, roomId)
      this.#count('moved here')
    }
  }

  /** Two devices go away in each round, and one comes back; every ten rounds all come back. */
  async #flap(count: number): Promise<void> {
    if (count % 10 === 0 || this.#away.length > 12) await this.bringBack()
    else if (this.#away.length > 1) {
      const [back, ...others] = this.#away as [LiveDevice, ...LiveDevice[]]
      await back.start()
      this.#away = others
    }
    const flapping = [this.#device(count, 31), this.#device(count, 37)].filter((one) => !this.#away.includes(one))
    for (const device of new Set(flapping)) {
      await device.stop()
      this.#away = [...this.#away, device]
      this.#count('went away')
    }
  }

  async bringBack(): Promise<void> {
    const devices = this.#away
    this.#away = []
    for (const device of devices) await device.start()
  }

  async #sample(device: LiveDevice, co2: number): Promise<void> {
    if (!this.#away.includes(device)) await device.sample({ co2, temp: 22, people: co2 % 3 })
  }

  async #set(side: 'here' | 'there', device: LiveDevice, key: (typeof configKeys)[number], value: number) {
    const last = this.settings.get(`${device.id} ${key}`)
    const atMs = performance.now()
    if (last && last.side !== side && atMs - last.atMs < apartMs) return
    // A device that is away keeps its settings, and what a person sets here meanwhile is sent when it is back.
    if (this.#away.includes(device)) return
    const [org, id] = side === 'here' ? [this.world.here, this.#ours(device)] : [this.world.there, device.id]
    await this.world.write(org, 'POST', `/endpoints/${id}/config`, { [key]: value })
    this.settings.set(`${device.id} ${key}`, { side, value, atMs })
    this.#count(`set ${side}`)
  }

  #ours(device: LiveDevice): string {
    return this.#pairs.get(device.id) as string
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1
  }
}

const print = (name: string, figures: object) => process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`)

/** How many devices differ, by what it is about. */
const tallyOf = (differences: readonly SideDifference[]) =>
  Object.fromEntries(
    Map.groupBy(differences, ({ what }) => what)
      .entries()
      .map(([what, all]) => [what, all.length]),
  )

const isNoConfig = ({ what }: SideDifference) => what !== 'config'

test(
  `after ${minutes} minutes of changes on both sides of ${2 * pairCount + 1} devices both agree, and each keeps what was set last`,
  async () => {
    const world = await MirrorWorld.start(harness, upstream, { pairCount, write: true, times: usualPulseTimes })
    const startedAtMs = performance.now()
    await pause(firstLookMs)
    const first = await world.differences()
    print('after 5 minutes', { devices: world.devices.length, differences: tallyOf(first) })
    const pairs = new Map(await world.pairs())
    const { rooms } = await world.read(`/sources/${world.source}/structure`)
    const roomsHere = rooms.map(({ linkedId }: { linkedId: number }) => linkedId)
    const withProfile = (await world.read('/rooms')).rooms.filter((room: { profileId?: number }) => room.profileId)
    expect(withProfile).toHaveLength(Math.ceil(pairCount / 2))
    expect(first.filter(isNoConfig).map(({ text }) => text)).toEqual([])
    expect(world.proxy.writes, 'profiles of rooms here are not sent there').toEqual([])
    expect((await world.read('/incidents?state=OPEN')).incidents).toEqual([])

    const changes = new Changes(world, pairs, roomsHere)
    const untilMs = performance.now() + minutes * minuteMs
    for (let count = 1; performance.now() < untilMs; count++) {
      const nextMs = performance.now() + roundMs
      await changes.round(count)
      await pause(Math.max(0, nextMs - performance.now()))
    }
    await changes.bringBack()
    await (world.devices[0] as LiveDevice).stop()
    const endedAtMs = performance.now()
    const secondsSince = (ms: number) => Math.round((performance.now() - ms) / secondMs)
    await world.untilSame(sameWithinMs, { counts: isNoConfig })
    const sameSeconds = secondsSince(endedAtMs)
    const leftMs = configSameWithinMs - (performance.now() - endedAtMs)
    await world.untilSame(leftMs)

    const { requests, writes } = world.proxy
    const times = requests.map(({ atMs }) => atMs)
    print('at the end', {
      ...changes.counts,
      sameSeconds,
      configSameSeconds: secondsSince(endedAtMs),
      requests: requests.length,
      writes: writes.length,
      perSecond: Number((requests.length / ((performance.now() - startedAtMs) / secondMs)).toFixed(2)),
      mostInTenSeconds: mostWithin(times, 10 * secondMs),
      // Both servers, the gateway and all devices.
      processMiB: residentMiB(process.pid),
    })
    const isOffline = (id: string) => id === world.devices[0]?.id
    for (const [what, { side, value }] of changes.settings) {
      const [id = '', key = ''] = what.split(' ')
      if (isOffline(id)) continue
      const there = await world.readThere(`/endpoints/${id}/config`)
      expect(there[key], `${what} was set ${side} last`).toBe(value)
    }
    for (const [id, roomId] of changes.roomsHere)
      expect((await world.read(`/endpoints/${pairs.get(id)}`)).roomId, 'it stays where it was put here').toBe(roomId)
    const paths = new Set(writes.map(({ path }) => path.replace(/^\/endpoints\/[^/]+/, '')))
    expect([...paths]).toEqual(['/config'])
    expect(writes.length).toBeLessThanOrEqual(changes.counts['set here'] ?? 0)
    // Two at the start of the ten seconds, and one that was a moment late.
    expect(mostWithin(times, 10 * secondMs)).toBeLessThanOrEqual(22)
    await world.stop()
  },
  (minutes + 30) * minuteMs + hourMs,
)

/** The most of these times, which are in order, within any period of this length. */
function mostWithin(times: readonly number[], periodMs: number): number {
  let [most, first] = [0, 0]
  for (const [last, atMs] of times.entries()) {
    while ((times[first] ?? atMs) <= atMs - periodMs) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

// Makes the status report of a computer out of what systeminformation and the kernel say.
import type { DeviceAction } from '../contract/device/models.ts'
import { realText } from '../contract/device/placeholders.ts'
import type { UpMessage } from '../contract/device/protocol.ts'
import { readStartedAt } from './kernel/boot.ts'
import { type AddressesByInterface, readNetworks } from './kernel/networks.ts'
import { listPeripherals } from './kernel/peripherals.ts'
import { readStorage } from './kernel/storage.ts'
import type { SystemFacts } from './system/calls.ts'

export type Status = UpMessage<'status'>

/** The parts of the machine that are read; tests give recorded lists. */
export interface Machine {
  /** The folder of the kernel's lists: "/". */
  readonly root: string
  readonly name: string
  readonly timezone: string
  addresses(): AddressesByInterface
}

interface Reading {
  readonly name: string
  readonly value: number
  readonly unit: string
}

const maxTextCharacters = 255
const maxNameCharacters = 100
const maxModelCharacters = 64
const gibibyteBytes = 2 ** 30
/** A smaller change of a reading, in its unit, is not reported: readings change all the time. */
const noticeableChange = 2
/** A smaller change of the free storage is not reported, as a share of all of it. */
const noticeableStorageShare = 0.01
/** The kernel computes the time of its start anew whenever the clock is corrected. */
const noticeableStartMs = 60_000

const text = (value: string | undefined) => realText(value)?.slice(0, maxTextCharacters) ?? null

/** The model code of the enrolment. systeminformation itself says "Computer" if the maker left it out. */
export const modelOfComputer = ({ system }: SystemFacts): string =>
  (realText(system?.model) ?? 'Computer').slice(0, maxModelCharacters)

/** The fields that hardly ever change. */
export function describeSystem({ system, osInfo, bios, cpu }: SystemFacts): Status {
  const facts = [
    ['kernel', osInfo?.kernel],
    ['architecture', osInfo?.arch],
    ['processor', [cpu?.manufacturer, cpu?.brand].filter(Boolean).join(' ')],
    ['cores', cpu?.cores ? String(cpu.cores) : undefined],
    ['bios', [bios?.vendor, bios?.version, bios?.releaseDate].filter(realText).join(' ')],
    ['virtualMachine', system?.virtual ? (system.virtualHost ?? 'yes') : undefined],
  ] as const
  return {
    ...(system && { manufacturer: text(system.manufacturer), hardwareVersion: text(system.version) }),
    ...(osInfo && { firmwareVersion: text(`${osInfo.distro} ${osInfo.release}`) }),
    facts: facts.flatMap(([name, value]) => (value ? [{ name, text: value.slice(0, maxTextCharacters) }] : [])),
  }
}

/** Everything that does not come from systeminformation. */
export async function describeMachine({ root, name, timezone, addresses }: Machine): Promise<Status> {
  const startedAt = await readStartedAt(root)
  return {
    name: name.slice(0, maxNameCharacters),
    timezone,
    ...(startedAt && { startedAt: startedAt.toISOString() }),
    ...(await readNetworks(root, addresses())),
    peripherals: await listPeripherals(root),
  }
}

/** A call that hung leaves the values that were reported before. */
export async function describeLoad(root: string, { mem, cpuTemperature, fsSize }: SystemFacts): Promise<Status> {
  const readings: Reading[] = []
  const total = mem?.total ?? 0
  if (mem && total > 0) {
    const used = (100 * (total - mem.available)) / total
    readings.push({ name: 'memoryUsed', value: Math.round(used), unit: '%' })
    readings.push({ name: 'memoryTotal', value: Math.round((10 * total) / gibibyteBytes) / 10, unit: 'GiB' })
  }
  if (typeof cpuTemperature?.main === 'number' && cpuTemperature.main > 0)
    readings.push({ name: 'cpuTemperature', value: Math.round(cpuTemperature.main), unit: '°C' })
  return { ...(mem && { readings }), ...(fsSize && (await readStorage(root, fsSize))) }
}

/** The fields that all computers share: they measure no air, and have none of the settings of meeting devices. */
export const fixedStatus = (actions: readonly DeviceAction[]): Status => ({
  kind: 'COMPUTER',
  actions: [...actions],
  configKeys: [],
  sensors: [],
})

/** The fields of `now` that differ noticeably from what was reported before. */
export function changesOf(reported: Status, now: Status): Status {
  const entries = Object.entries(now).filter(([name, value]) => {
    const before = reported[name]
    if (JSON.stringify(before) === JSON.stringify(value)) return false
    if (name === 'readings') return haveChanged(before as Reading[] | undefined, value as Reading[])
    if (name.startsWith('free') && typeof before === 'string' && typeof value === 'string') {
      const total = Number(now[name.replace('free', 'total')])
      return Math.abs(Number(value) - Number(before)) >= total * noticeableStorageShare
    }
    if (name === 'startedAt' && typeof before === 'string')
      return Math.abs(Date.parse(value as string) - Date.parse(before)) >= noticeableStartMs
    return true
  })
  return Object.fromEntries(entries)
}

const haveChanged = (before: readonly Reading[] | undefined, now: readonly Reading[]): boolean =>
  before?.length !== now.length ||
  now.some(({ name, value }) => {
    const earlier = before.find((reading) => reading.name === name)
    return earlier === undefined || Math.abs(value - earlier.value) >= noticeableChange
  })

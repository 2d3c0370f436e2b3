// Lists that a device reports, as readable text in a cell of CSV. [contract 6.csv]
import type { Static } from 'typebox'
import type { reportedFields } from './reported-status.ts'

type Reported<K extends keyof typeof reportedFields> = Static<(typeof reportedFields)[K]>
type Item<K extends keyof typeof reportedFields> = Reported<K> extends readonly (infer I)[] ? I : never

/** Parts of an item that are not known are left out. */
const listed = (parts: readonly (string | false | undefined)[]): string => parts.filter(Boolean).join(', ')

const listOf =
  <I>(textOf: (item: I) => string) =>
  (items: readonly I[]): string =>
    items.map(textOf).join('; ')

const network = ({ type, display, networkName, linkUp, signalDbm, dnsServers = [] }: Item<'networks'>): string =>
  listed([
    type,
    display,
    networkName,
    linkUp === false && 'no link',
    signalDbm !== undefined && `${signalDbm} dBm`,
    dnsServers.length > 0 && `DNS ${dnsServers.join(' ')}`,
  ])

const peripheral = ({ name, kind, serial, version, connected }: Item<'peripherals'>): string =>
  `${name}: ${listed([kind, serial && `serial ${serial}`, version && `version ${version}`, connected ? 'connected' : 'not connected'])}`

/** The text of each list that is not one of single words. */
export const endpointCellTexts = {
  inputs: (inputs: Reported<'inputs'>) => inputs.join('; '),
  networks: listOf(network),
  peripherals: listOf(peripheral),
  faults: listOf(({ code, level, text }: Item<'faults'>) => `${level} ${code}: ${text}`),
  readings: listOf(({ name, value, unit }: Item<'readings'>) => `${name}: ${value} ${unit}`.trimEnd()),
  facts: listOf(({ name, text }: Item<'facts'>) => `${name}: ${text}`),
}

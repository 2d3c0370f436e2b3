// Observes which known peripherals a connected device misses. [contract 10.rule]
import { conditionOf, type Finding, type Observation } from '../types.ts'
import type { KnownPeripheral, ReportedPeripheral } from './known-peripherals.ts'

/** A device that no longer reports peripherals misses none. A peripheral that has been missing for longer than it is remembered stays missing. */
export function observePeripherals(
  endpointId: string,
  reported: readonly ReportedPeripheral[] | undefined,
  known: readonly KnownPeripheral[],
  findings: readonly Finding[],
): Observation[] {
  const connected = new Set(reported?.flatMap(({ id, connected }) => (connected ? id : [])))
  const missing = new Map(
    reported ? known.filter(({ id }) => !connected.has(id)).map((each) => [each.id, each] as const) : [],
  )
  const others = findings.filter(
    ({ rule, subject }) => rule === 'peripheral.missing' && !missing.has(subject.part ?? ''),
  )
  return [
    ...[...missing.values()].map(({ id, name, kind }): Observation => {
      const detail = { peripherals: [{ name, kind }] }
      return { ...conditionOf('peripheral.missing', endpointId, id), state: 'holds', detail }
    }),
    ...others.map(({ subject: { part = '' } }): Observation => {
      const state = !reported || connected.has(part) ? 'clear' : 'between'
      return { ...conditionOf('peripheral.missing', endpointId, part), state }
    }),
  ]
}

// The drivers of sources, by their type. Each is loaded when a source of its type is on the list: most gateways have none.
import type { SourceType } from '../../contract/fleet/drivers.ts'
import type { SourceDriver } from './source.ts'

/** A gateway that is older than the server lacks a type; tests have their own. */
export type SourceTable = Readonly<Partial<Record<SourceType, () => Promise<SourceDriver>>>>

export const sourceTable: SourceTable = {
  mqtt: async () => new (await import('./mqtt/mqtt-driver.ts')).MqttDriver(),
  'neat-pulse': async () => (await import('./neat-pulse/neat-pulse.ts')).neatPulse,
}

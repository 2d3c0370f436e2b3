// Refuses keys that a profile locks. [contract 4.endpointsApplyConfig]
import { Failure } from '../../core/failure.ts'
import { type ConfigLayers, profileLayer } from './effective.ts'
import { keysOf } from './sealed-config.ts'

/** Clients compare this message byte for byte. */
export const profileConflict = (keys: readonly string[]): Failure =>
  new Failure(
    'FAILED_PRECONDITION',
    `Failed to apply config: attempted to override profile settings: the following fields contain conflicts: [${keys.join(', ')}]`,
    { exact: true },
  )

export function refuseProfileKeys(row: ConfigLayers, names: readonly string[]): void {
  const conflicts = keysOf(profileLayer(row)).filter((name) => names.includes(name))
  if (conflicts.length > 0) throw profileConflict(conflicts)
}

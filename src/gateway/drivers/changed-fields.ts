// Compares two status reports of a device: the changes are what a session emits.
import { isDeepStrictEqual } from 'node:util'
import type { UpMessage } from '../../contract/device/protocol.ts'

/** The fields that differ, with null for a field that is gone; undefined if nothing changed. */
export function changedFields(before: UpMessage<'status'>, after: UpMessage<'status'>) {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]))
  if (changed.length > 0) return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}

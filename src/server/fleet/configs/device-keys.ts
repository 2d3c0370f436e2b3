// Decides which settings a device has. [contract 5.3.keys]
import { Failure } from '../../core/failure.ts'

/** `configKeys` is the reported list as JSON text (`reportedList`), or null: then the device has all settings. */
export function deviceKeys(configKeys: string | null): (name: string) => boolean {
  if (configKeys === null) return () => true
  const known: ReadonlySet<string> = new Set(JSON.parse(configKeys))
  return (name) => known.has(name)
}

/** Refuses to set keys on a device that does not have them. A key can always be removed. */
export function refuseMissingKeys(id: string, configKeys: string | null, set: readonly string[]): void {
  const has = deviceKeys(configKeys)
  const missing = set.filter((name) => !has(name))
  if (missing.length === 0) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `the device of endpoint ${id} does not have these settings: ${missing.join(', ')}. Leave them out.`,
  )
}

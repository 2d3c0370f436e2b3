// The desired values of a device, and the keys that it rejected. These are not sent again while they have the rejected value, unless a job is retried. [contract 5.3.versions]
import { type ConfigValue, configKeys } from '../../../contract/device/config-keys.ts'
import type { Org } from '../../auth/token-holder.ts'
import type { Secrets } from '../../core/secrets.ts'
import { deviceKeys } from './device-keys.ts'
import { effectiveValues } from './effective.ts'
import type { EndpointConfigRow } from './store.ts'

/** The stored form. The mark is a MAC of the rejected value, because the value may be a password. */
export type Rejected = Readonly<Record<string, { readonly reason: string; readonly mark: string }>>

/** The desired values of the settings that a device has, and the marks of those values. */
export interface DesiredValues {
  readonly values: Readonly<Record<string, ConfigValue>>
  /** Desired keys that the device does not have. They are not sent, and cannot be rejected. [contract 5.3.keys] */
  readonly notForDevice: readonly string[]
  readonly mark: (name: string) => string
}

export function desiredValuesOf(secrets: Secrets, org: Org, row: EndpointConfigRow): DesiredValues {
  const has = deviceKeys(row.config_keys)
  const all = Object.entries(effectiveValues(secrets, org, row))
  const values = Object.fromEntries(all.filter(([name]) => has(name)))
  const notForDevice = all.flatMap(([name]) => (has(name) ? [] : [name]))
  const mark = (name: string) =>
    secrets.mac('rejected value', JSON.stringify([org.id, row.id, name, values[name]])).toString('base64')
  return { values, notForDevice, mark }
}

/** Returns the rejected keys whose desired value is still the rejected one. */
export const stillRejected = ({ values, mark }: DesiredValues, row: EndpointConfigRow): Rejected =>
  Object.fromEntries(
    Object.entries<Rejected[string]>(JSON.parse(row.rejected)).filter(
      ([name, rejection]) => Object.hasOwn(values, name) && rejection.mark === mark(name),
    ),
  )

/** Marks the keys that a device rejects now. Keys without a desired value cannot be rejected. */
export const newlyRejected = ({ values, mark }: DesiredValues, reasons: Readonly<Record<string, string>>): Rejected =>
  Object.fromEntries(
    Object.entries(reasons)
      .filter(([name]) => Object.hasOwn(values, name))
      .map(([name, reason]) => [name, { reason: sanitiseReason(reason, values), mark: mark(name) }]),
  )

/** Makes the reason one line and masks passwords, because a device may quote one, plain or escaped as in JSON. */
function sanitiseReason(reason: string, values: DesiredValues['values']): string {
  const passwords = Object.keys(values).flatMap((name) => (configKeys[name]?.secret ? [String(values[name])] : []))
  const spellings = passwords.flatMap((password) => [JSON.stringify(password).slice(1, -1), password])
  const masked = spellings.reduce((text, spelling) => text.replaceAll(spelling, '***'), reason)
  const line = masked.toWellFormed().replaceAll(/\p{Cc}+/gu, ' ')
  return line.trim() || 'refused without a reason'
}

export const rejectionReasons = (rejected: Rejected): Record<string, string> =>
  Object.fromEntries(Object.entries(rejected).map(([name, { reason }]) => [name, reason]))

export const rejectionError = (rejected: Rejected): string | null =>
  Object.entries(rejectionReasons(rejected))
    .map(([name, reason]) => `${name}: ${reason}`)
    .join('; ') || null

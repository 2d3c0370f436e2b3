// Keys that a device refused: not sent again while they have the value that it refused. [contract 5.3.versions]
import { type ConfigValue, configKeys } from '../../../contract/config-keys.ts'
import type { Org } from '../../auth/keyring.ts'
import type { Secrets } from '../../core/secrets.ts'
import { effectiveValues } from './effective.ts'
import type { EndpointConfigRow } from './store.ts'

/** As it is stored. The mark stands for the value, which may be a password. */
type Rejected = Readonly<Record<string, { readonly reason: string; readonly mark: string }>>

/** What a device is to be set to, and the marks of those values. */
export interface DesiredValues {
  readonly values: Readonly<Record<string, ConfigValue>>
  readonly mark: (name: string) => string
}

export function desiredValuesOf(secrets: Secrets, org: Org, row: EndpointConfigRow): DesiredValues {
  const values = effectiveValues(secrets, org, row)
  const mark = (name: string) =>
    secrets.mac('rejected value', JSON.stringify([org.id, row.id, name, values[name]])).toString('base64')
  return { values, mark }
}

/** The refused keys whose value is still the one that was refused. */
export const stillRejected = ({ values, mark }: DesiredValues, row: EndpointConfigRow): Rejected =>
  Object.fromEntries(
    Object.entries<Rejected[string]>(JSON.parse(row.rejected)).filter(
      ([name, refused]) => Object.hasOwn(values, name) && refused.mark === mark(name),
    ),
  )

/** What a device says about the values as they are now; of other keys it can refuse nothing. */
export const newlyRejected = ({ values, mark }: DesiredValues, reasons: Readonly<Record<string, string>>): Rejected =>
  Object.fromEntries(
    Object.entries(reasons)
      .filter(([name]) => Object.hasOwn(values, name))
      .map(([name, reason]) => [name, { reason: readable(reason, values), mark: mark(name) }]),
  )

/** One line of text; a device may quote a password, of this key or another, as it is or as JSON has it. */
function readable(reason: string, values: DesiredValues['values']): string {
  const passwords = Object.keys(values).flatMap((name) => (configKeys[name]?.secret ? [String(values[name])] : []))
  const spellings = passwords.flatMap((password) => [JSON.stringify(password).slice(1, -1), password])
  const quotable = spellings.reduce((text, spelling) => text.replaceAll(spelling, '***'), reason)
  const line = quotable.toWellFormed().replaceAll(/\p{Cc}+/gu, ' ')
  return line.trim() || 'refused without a reason'
}

export const rejectionReasons = (rejected: Rejected): Record<string, string> =>
  Object.fromEntries(Object.entries(rejected).map(([name, { reason }]) => [name, reason]))

export const rejectionError = (rejected: Rejected): string | null =>
  Object.entries(rejectionReasons(rejected))
    .map(([name, reason]) => `${name}: ${reason}`)
    .join('; ') || null

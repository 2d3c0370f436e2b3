// Seals a config for storage: passwords are encrypted, all other keys are plain JSON. [contract 5.3.versions]
import { type ConfigValue, configKeys, type DeviceConfigBody } from '../../../contract/device/config-keys.ts'
import type { Org } from '../../auth/token-holder.ts'
import type { Secrets } from '../../core/secrets.ts'

export interface SealedConfig {
  /** JSON of the keys that may be shown, in the order of `configKeys`. */
  readonly config: string
  /** JSON of the sealed passwords, base64. An unchanged password retains its sealed text. */
  readonly secrets: string
}

/** A sealed password is bound to this context, so it cannot be moved to another profile or endpoint. */
export const profileContext = (org: Org, id: number): string => `profile/${org.id}/${id}`
export const endpointContext = (org: Org, id: string): string => `config/${org.id}/${id}`

/** An absent password is retained, because answers never contain it; null removes it. Other keys are replaced. */
export function sealConfig(
  sent: DeviceConfigBody,
  before: SealedConfig | undefined,
  secrets: Secrets,
  context: string,
): SealedConfig {
  const config: Record<string, ConfigValue> = {}
  const sealed: Record<string, string> = {}
  const previous: Record<string, string> = before ? JSON.parse(before.secrets) : {}
  for (const [name, key] of Object.entries(configKeys)) {
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined
    if (!key.secret) {
      if (value !== undefined && value !== null) config[name] = value
    } else if (value === undefined) {
      if (previous[name] !== undefined) sealed[name] = previous[name]
    } else if (value !== null) {
      const old = previous[name]
      const isSame = old !== undefined && secrets.unseal(Buffer.from(old, 'base64'), context) === value
      sealed[name] = isSame ? old : secrets.seal(String(value), context).toString('base64')
    }
  }
  return { config: JSON.stringify(config), secrets: JSON.stringify(sealed) }
}

export const sameConfig = (a: SealedConfig, b: SealedConfig): boolean =>
  a.config === b.config && a.secrets === b.secrets

export const shownConfig = ({ config }: SealedConfig): Record<string, ConfigValue> => JSON.parse(config)

/** Includes the passwords in plain text, so the result may be sent to the device only. */
export const openConfig = (stored: SealedConfig, secrets: Secrets, context: string): Record<string, ConfigValue> => ({
  ...shownConfig(stored),
  ...Object.fromEntries(
    Object.entries<string>(JSON.parse(stored.secrets)).map(([name, sealed]) => [
      name,
      secrets.unseal(Buffer.from(sealed, 'base64'), context),
    ]),
  ),
})

/** Masks passwords for the audit log. A changed password has another mask than an unchanged one. */
export const maskedConfig = (stored: SealedConfig, changed: readonly string[] = []): Record<string, ConfigValue> => ({
  ...shownConfig(stored),
  ...Object.fromEntries(
    Object.keys(JSON.parse(stored.secrets)).map((name) => [name, changed.includes(name) ? '*** (changed)' : '***']),
  ),
})

export function changedSecrets(before: SealedConfig, after: SealedConfig): string[] {
  const [a, b] = [JSON.parse(before.secrets), JSON.parse(after.secrets)]
  return Object.keys(b).filter((name) => a[name] !== undefined && a[name] !== b[name])
}

/** Returns the keys, passwords included, in the order of `configKeys`. */
export function keysOf({ config, secrets }: SealedConfig): string[] {
  const set = { ...JSON.parse(config), ...JSON.parse(secrets) }
  return Object.keys(configKeys).filter((name) => Object.hasOwn(set, name))
}

export interface Difference {
  readonly before?: ConfigValue
  readonly after?: ConfigValue
}

/** Returns the keys that differ. Passwords are masked. */
export function differences(before: SealedConfig, after: SealedConfig): Record<string, Difference> {
  const [a, b] = [before, after].map(({ config, secrets }) => ({ ...JSON.parse(config), ...JSON.parse(secrets) }))
  const shown = (side: 'before' | 'after', name: string, value: ConfigValue | undefined): Difference =>
    value === undefined ? {} : { [side]: configKeys[name]?.secret ? '***' : value }
  return Object.fromEntries(
    Object.keys(configKeys)
      .filter((name) => a[name] !== b[name])
      .map((name) => [name, { ...shown('before', name, a[name]), ...shown('after', name, b[name]) }]),
  )
}

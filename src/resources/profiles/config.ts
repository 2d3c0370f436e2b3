// The config of a profile: what can be shown as it is, passwords sealed beside it. [contract 5.3]
import { type ConfigValue, configKeys, type DeviceConfigBody } from '../../contract/config-keys.ts'
import type { Secrets } from '../../platform/secrets.ts'

export interface StoredConfig {
  /** JSON of the keys that may be shown, in the order of the table. */
  readonly config: string
  /** JSON of the sealed passwords, base64. */
  readonly secrets: string
}

/** An absent password is kept, because it is never returned; null removes it. */
export function storeConfig(
  sent: DeviceConfigBody,
  before: StoredConfig | undefined,
  secrets: Secrets,
  context: string,
): StoredConfig {
  const config: Record<string, ConfigValue> = {}
  const sealed: Record<string, string> = {}
  const kept: Record<string, string> = before ? JSON.parse(before.secrets) : {}
  for (const [name, key] of Object.entries(configKeys)) {
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined
    if (!key.secret) {
      if (value !== undefined && value !== null) config[name] = value
    } else if (value === undefined) {
      if (kept[name] !== undefined) sealed[name] = kept[name]
    } else if (value !== null) {
      const old = kept[name]
      const same = old !== undefined && secrets.unseal(Buffer.from(old, 'base64'), context) === value
      sealed[name] = same ? old : secrets.seal(String(value), context).toString('base64')
    }
  }
  return { config: JSON.stringify(config), secrets: JSON.stringify(sealed) }
}

export const sameConfig = (a: StoredConfig, b: StoredConfig): boolean =>
  a.config === b.config && a.secrets === b.secrets

export const shownConfig = ({ config }: StoredConfig): Record<string, ConfigValue> => JSON.parse(config)

/** For the audit log: passwords appear as set, never as they are; two different ones have different marks. */
export const maskedConfig = (stored: StoredConfig, changed: readonly string[] = []): Record<string, ConfigValue> => ({
  ...shownConfig(stored),
  ...Object.fromEntries(
    Object.keys(JSON.parse(stored.secrets)).map((name) => [name, changed.includes(name) ? '*** (changed)' : '***']),
  ),
})

export function changedSecrets(before: StoredConfig, after: StoredConfig): string[] {
  const [a, b] = [JSON.parse(before.secrets), JSON.parse(after.secrets)]
  return Object.keys(b).filter((name) => a[name] !== undefined && a[name] !== b[name])
}

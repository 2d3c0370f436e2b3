// Computes the desired config of a device: the keys of the endpoint, overlaid with those of its profile. [contract 5.3.versions]
import type { ConfigValue } from '../../../contract/device/config-keys.ts'
import type { Org } from '../../auth/token-holder.ts'
import type { Secrets } from '../../core/secrets.ts'
import { endpointContext, openConfig, profileContext, type SealedConfig } from './sealed-config.ts'

/** Both the current config and each version are stored in this form. */
export interface ConfigLayers {
  readonly explicit: string
  readonly secrets: string
  readonly profile_id: number | null
  readonly profile: string
  readonly profile_secrets: string
}

export const explicitLayer = (layers: ConfigLayers): SealedConfig => ({
  config: layers.explicit,
  secrets: layers.secrets,
})
export const profileLayer = (layers: ConfigLayers): SealedConfig => ({
  config: layers.profile,
  secrets: layers.profile_secrets,
})

const overlay = (below: string, above: string): string => JSON.stringify({ ...JSON.parse(below), ...JSON.parse(above) })

/** The passwords stay sealed, which is enough to compare two configs. */
export const effectiveConfig = (layers: ConfigLayers): SealedConfig => ({
  config: overlay(layers.explicit, layers.profile),
  secrets: overlay(layers.secrets, layers.profile_secrets),
})

/** Includes the passwords in plain text, so the result may be sent to the device only. */
export const effectiveValues = (
  secrets: Secrets,
  org: Org,
  row: ConfigLayers & { readonly id: string },
): Record<string, ConfigValue> => ({
  ...openConfig(explicitLayer(row), secrets, endpointContext(org, row.id)),
  ...(row.profile_id !== null && openConfig(profileLayer(row), secrets, profileContext(org, row.profile_id))),
})

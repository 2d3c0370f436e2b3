// What a device is to be set to: the keys of the endpoint, the keys of its profile laid over them. [contract 5.3.versions]
import type { ConfigValue } from '../../../contract/config-keys.ts'
import type { Org } from '../../auth/keyring.ts'
import type { Secrets } from '../../core/secrets.ts'
import { endpointContext, openConfig, profileContext, type SealedConfig } from './sealed-config.ts'

/** As both the current config and each version are stored. */
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

const overlaid = (below: string, above: string): string =>
  JSON.stringify({ ...JSON.parse(below), ...JSON.parse(above) })

/** Sealed as it is stored, to compare two. */
export const effectiveConfig = (layers: ConfigLayers): SealedConfig => ({
  config: overlaid(layers.explicit, layers.profile),
  secrets: overlaid(layers.secrets, layers.profile_secrets),
})

/** Open, passwords included, for the device alone. */
export const effectiveValues = (
  secrets: Secrets,
  org: Org,
  row: ConfigLayers & { readonly id: string },
): Record<string, ConfigValue> => ({
  ...openConfig(explicitLayer(row), secrets, endpointContext(org, row.id)),
  ...(row.profile_id !== null && openConfig(profileLayer(row), secrets, profileContext(org, row.profile_id))),
})

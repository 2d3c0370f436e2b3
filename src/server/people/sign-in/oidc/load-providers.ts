// Loads the client for identity providers at its first use: its libraries take memory, and many organisations have no provider.
import type { OutboundFetch } from '../../../outbound/outbound-fetch.ts'
import type { ProviderClient } from './provider-client.ts'

export type LoadProviders = () => Promise<ProviderClient>

export function providerLoader(outboundFetch: OutboundFetch): LoadProviders {
  let client: Promise<ProviderClient> | undefined
  const load = async () => new (await import('./provider-client.ts')).ProviderClient(outboundFetch)
  return () => {
    client ??= load()
    return client
  }
}

// Derives from the options which addresses the server may call.
import { isLoopbackHost } from '../core/loopback.ts'
import type { OutboundRules } from '../outbound/allow-list.ts'
import type { ServeOptions } from './server-options.ts'

type ListenOptions = Pick<
  ServeOptions,
  | 'host'
  | 'healthHost'
  | 'healthPort'
  | 'mqttHost'
  | 'mqttPort'
  | 'mqttTlsPort'
  | 'outboundAllow'
  | 'publicUrl'
  | 'trustProxy'
>

/**
 * For identity providers loopback needs no item in the list while only this machine reaches the server, as in a trial: no port is
 * elsewhere, and no proxy leads here.
 */
export function outboundRulesOf(options: ListenOptions): OutboundRules {
  const { host, healthHost, healthPort, mqttHost, mqttPort, mqttTlsPort } = options
  const hosts = [host]
  if (healthPort !== 'off') hosts.push(healthHost)
  if (mqttPort !== 'off' || mqttTlsPort !== 'off') hosts.push(mqttHost)
  const isPublic = options.publicUrl !== undefined && !isLoopbackHost(new URL(options.publicUrl).hostname)
  const hasProxy = (options.trustProxy ?? []).length > 0
  return { allow: options.outboundAllow ?? [], allowLoopback: !isPublic && !hasProxy && hosts.every(isLoopbackHost) }
}

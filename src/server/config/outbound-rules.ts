// Derives from the options which addresses the server may call.
import { isLoopbackHost } from '../core/loopback.ts'
import type { OutboundRules } from '../outbound/allow-list.ts'
import type { ServeOptions } from './server-options.ts'

type ListenOptions = Pick<
  ServeOptions,
  'host' | 'healthHost' | 'healthPort' | 'mqttHost' | 'mqttPort' | 'mqttTlsPort' | 'outboundAllow'
>

/** Loopback needs no item in the list while all ports of the server are there too, as in a trial on one machine. */
export function outboundRulesOf(options: ListenOptions): OutboundRules {
  const { host, healthHost, healthPort, mqttHost, mqttPort, mqttTlsPort } = options
  const hosts = [host]
  if (healthPort !== 'off') hosts.push(healthHost)
  if (mqttPort !== 'off' || mqttTlsPort !== 'off') hosts.push(mqttHost)
  return { allow: options.outboundAllow ?? [], allowLoopback: hosts.every(isLoopbackHost) }
}

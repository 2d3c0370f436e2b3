// `roomkeeper serve`: starts the service, prints its address, and stops it on a signal.
import { startService } from '../server/app.ts'
import type { ServeOptions } from '../server/config/server-options.ts'
import type { Services } from '../server/context/services.ts'
import { makeLog } from '../server/core/log.ts'
import { isLoopbackHost } from '../server/core/loopback.ts'
import { firstStartActor } from '../server/first-start.ts'
import { makeFirstOwnerLink } from './login-link.ts'
import type { Terminal } from './terminal.ts'

export async function serve(terminal: Terminal, options: ServeOptions): Promise<void> {
  const log = makeLog(options.logLevel)
  const stopped = terminal.untilStopped()
  const service = await startService(options, log, {
    onLost: () => {
      terminal.writeError('Another program has taken the database, or the name of this node. Stopping.')
      terminal.exitWithFailure()
    },
  })
  // Without a certificate there is nothing to reload, and a closed terminal ends the server as usual.
  if (options.tlsCert !== undefined) terminal.onHangup(() => service.reloadCertificate())
  const { first, publicUrl } = service
  if (!isLoopbackHost(options.host) && !options.tlsCert) {
    terminal.writeError(
      `Listening on ${options.host} without HTTPS: API keys are sent unencrypted. Use --tls-cert and --tls-key, or an HTTPS proxy.`,
    )
  }
  if (!isLoopbackHost(options.host) && options.publicUrl === undefined) {
    terminal.writeError(
      `Links, QR codes and device addresses contain ${publicUrl}, which others may not be able to reach. Set --public-url to the public address of the server.`,
    )
  }
  if (!isLoopbackHost(options.mqttHost) && service.mqttPort !== undefined) {
    terminal.writeError(
      `Devices can connect to ${options.mqttHost}:${service.mqttPort} without TLS: credentials are sent unencrypted. Use --mqtt-tls-port and --mqtt-port off.`,
    )
  }
  if (!first) {
    terminal.write(`Roomkeeper is ready at ${publicUrl}
API reference: ${publicUrl}/docs
Open the console: ${publicUrl}/  (to get back in: "roomkeeper login-link --user EMAIL")`)
  } else {
    terminal.write(`
Roomkeeper is ready at ${publicUrl}

  Organisation  ${first.org}
  Key           ${first.key}

The key is not shown again: store it now. Try it:

  curl -H 'Authorization: Bearer ${first.key}' ${publicUrl}/v1/orgs/${first.org}/regions

API reference: ${publicUrl}/docs
`)
    // The link is created after the key was printed, so that an error here does not lose the key.
    terminal.write(await firstOwnerLine(terminal, service.services, first.org, publicUrl))
  }
  if (service.lacksKey) {
    terminal.write(
      'There is no API key yet. Create one with: keys create --org ID --name NAME --scope read --scope write --manage',
    )
  }
  log.info({ signal: await stopped }, 'stopping')
  await service.close()
  log.info('stopped')
}

/**
 * Says how to open the console after the first start. It shows a link only on a terminal, because others may read a journal later.
 * [contract 11.local]
 */
async function firstOwnerLine(terminal: Terminal, services: Services, org: string, base: string): Promise<string> {
  if (!terminal.isInteractive) return 'Make the first owner: roomkeeper users invite EMAIL --role owner\n'
  const url = await makeFirstOwnerLink(services, firstStartActor, org, base)
  return `Open the console: ${url}  (works once, for 24 hours, and makes you the first owner)\n`
}

// `roomkeeper serve`: starts the service, greets, and stops it gently.
import { startService } from '../app.ts'
import { firstStartActor } from '../first-start.ts'
import { makeLog } from '../platform/log.ts'
import { isLoopbackHost } from '../platform/loopback.ts'
import type { ServeOptions } from '../platform/options.ts'
import { settle } from '../platform/settle.ts'
import { makeLoginLink } from './login-link.ts'
import type { Terminal } from './terminal.ts'

export async function serve(terminal: Terminal, options: ServeOptions): Promise<void> {
  const log = makeLog(options.logLevel)
  const stopped = terminal.untilStopped()
  const service = await startService(options, log, {
    onLost: () => {
      terminal.complain('The lock on the database was lost, so another server could start. Stopping.')
      terminal.fail()
    },
  })
  // Before anybody hears that it is ready.
  await settle().catch(({ message }) => log.debug({ reason: message }, 'garbage stays'))
  const { first, publicUrl } = service
  if (!isLoopbackHost(options.host) && !options.tlsCert) {
    terminal.complain(
      `Listening on ${options.host} without HTTPS: keys can be read on the way. Use --tls-cert and --tls-key, or a proxy that speaks HTTPS.`,
    )
  }
  if (!isLoopbackHost(options.host) && options.publicUrl === undefined) {
    terminal.complain(
      `Links, QR codes and what devices are told name ${publicUrl}, which may not be what others can reach. Set --public-url to the address that they open.`,
    )
  }
  if (!isLoopbackHost(options.mqttHost) && service.mqttPort !== undefined) {
    terminal.complain(
      `Devices can connect to ${options.mqttHost}:${service.mqttPort} without TLS: their credentials can be read on the way. Use --mqtt-tls-port and --mqtt-port off.`,
    )
  }
  if (!first) {
    terminal.say(`Roomkeeper is ready at ${publicUrl}
Every operation is described at ${publicUrl}/docs
Open the console: ${publicUrl}/  (sign in with a key, or with a link that "roomkeeper login-link" makes)`)
  } else {
    terminal.say(`
Roomkeeper is ready at ${publicUrl}

  Organisation  ${first.org}
  Key           ${first.key}

The key is shown only this once: keep it. Try it:

  curl -H 'Authorization: Bearer ${first.key}' ${publicUrl}/v1/orgs/${first.org}/regions

Every operation is described at ${publicUrl}/docs
`)
    // Only now: whatever happens to the link, the key was shown.
    const { url } = await makeLoginLink(service.ground, firstStartActor, first.org, publicUrl)
    terminal.say(`Open the console: ${url}  (15 minutes, once)\n`)
  }
  if (service.lacksKey) {
    terminal.say(
      'There is no key yet. Create one with: keys create --org ID --name NAME --scope read --scope write --manage',
    )
  }
  log.info({ signal: await stopped }, 'stopping')
  await service.close()
  log.info('stopped')
}

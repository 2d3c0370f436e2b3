// `roomkeeper serve`: starts the service, prints its address, and stops it on a signal.
import { startServiceWhenDatabaseWorks } from '../server/app.ts'
import type { ServeOptions } from '../server/config/server-options.ts'
import { makeLog } from '../server/core/log.ts'
import { isLoopbackHost } from '../server/core/loopback.ts'
import { scaleTimeLimits, timeLimits } from '../server/core/time-limits.ts'
import { startGatewayBeside } from './gateway-beside.ts'
import { greet } from './greeting.ts'
import type { Terminal } from './terminal/terminal.ts'

export async function serve(terminal: Terminal, options: ServeOptions): Promise<void> {
  const log = makeLog(options.logLevel)
  const { timeFactor } = terminal
  const limits = timeFactor === undefined ? timeLimits : scaleTimeLimits(Number(timeFactor))
  if (timeFactor !== undefined) {
    log.warn(
      { timeFactor },
      'time limits shortened for a test: unset ROOMKEEPER_TEST_TIME_FACTOR on a server that people use',
    )
  }
  const stop = new AbortController()
  const stopped = terminal.untilStopped().finally(() => stop.abort())
  const onLost = () => {
    terminal.writeError('Another program has taken the database, or the name of this node. Stopping.')
    terminal.exitWithFailure()
  }
  const service = await startServiceWhenDatabaseWorks(
    options,
    log,
    { makesFirstKey: terminal.isInteractive, limits, onLost },
    stop.signal,
  )
  if (!service) return log.info({ signal: await stopped }, 'stopped')
  // Without a certificate there is nothing to reload, and a closed terminal ends the server as usual.
  if (options.tlsCert !== undefined) terminal.onHangup(() => service.reloadCertificate())
  const { publicUrl } = service
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
  const gateway = await startGatewayBeside(terminal, options, service, log).catch(async (error) => {
    await service.close()
    throw error
  })
  await greet(terminal, options, service)
  log.info({ signal: await stopped }, 'stopping')
  await gateway?.stop()
  await service.close()
  log.info('stopped')
}

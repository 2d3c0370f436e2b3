// `roomkeeper gateway`: manages devices in its network for a server, until it is stopped.
import { resolve } from 'node:path'
import { StartupError } from '../server/core/failure.ts'
import { needsPersonExitStatus } from './gateway-options.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface GatewayCommandOptions {
  readonly url: string
  readonly code?: string
  readonly dataDir: string
  readonly reach?: readonly string[]
  readonly reachHost?: readonly string[]
  readonly serial?: string
}

export async function gatewayCommand(terminal: Terminal, options: GatewayCommandOptions): Promise<void> {
  const stop = new AbortController()
  void terminal.untilStopped().then(() => stop.abort())
  // Loaded on demand, because MQTT.js and the drivers take long to load.
  const [
    { runGateway, GatewayError },
    { FolderError, GatewayFolder },
    { privateNetworks, Reach },
    { driverTable },
    { sourceTable },
  ] = await Promise.all([
    import('../gateway/gateway.ts'),
    import('../gateway/folder.ts'),
    import('../gateway/reach.ts'),
    import('../gateway/driver-table.ts'),
    import('../gateway/sources/source-table.ts'),
  ])
  // Texts of devices can be in a line, and a terminal obeys control characters.
  const log = (line: string) => terminal.write(`${new Date().toISOString()} ${line.replaceAll(/\p{Cc}+/gu, ' ')}`)
  // A bug in a driver must not end the sessions of all other devices.
  terminal.onUncaughtError((error) => log(`unexpected error: ${error?.stack ?? String(error)}`))
  try {
    await runGateway(
      {
        ...options,
        folder: GatewayFolder.open(resolve(options.dataDir)),
        reach: new Reach(options.reach ?? privateNetworks(), options.reachHost),
        version: terminal.version,
        drivers: driverTable,
        sources: sourceTable,
        log,
      },
      stop.signal,
    )
  } catch (error) {
    if (error instanceof GatewayError) throw new StartupError(error.message, { exitCode: needsPersonExitStatus })
    throw error instanceof FolderError ? new StartupError(error.message) : error
  }
}

// Runs a gateway beside the server, as a process of its own that gets none of the server's secrets.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { backOffMs } from '../client/back-off.ts'
import { dayMs, minuteMs, secondMs } from '../contract/durations.ts'
import { FolderError, GatewayFolder } from '../gateway/folder.ts'
import type { Service } from '../server/app.ts'
import type { ServeOptions } from '../server/config/server-options.ts'
import { Failure, StartupError } from '../server/core/failure.ts'
import type { Log } from '../server/core/log.ts'
import { isLoopbackHost } from '../server/core/loopback.ts'
import { codePaths, executableFile } from '../server/core/program-files.ts'
import { roomsEnrolmentGet } from '../server/fleet/rooms/enrolment.ts'
import { roomsRegenerateDec } from '../server/fleet/rooms/rules.ts'
import { commandLineActor } from '../server/journal/orgs/rules.ts'
import { listNodes } from '../server/nodes/node-list.ts'
import { cliActor } from './database-command.ts'
import { collectHosts, collectRanges, needsPersonExitStatus } from './gateway-options.ts'
import type { Terminal } from './terminal/terminal.ts'

const restartBackOff = { firstMs: secondMs, maxMs: minuteMs }
/** A gateway that ran for this long was a success: the back-off starts again. */
const stableMs = minuteMs
const stopLimitMs = 10 * secondMs

/** Undefined if the options name no gateway. */
export async function startGatewayBeside(
  terminal: Terminal,
  options: ServeOptions,
  service: Service,
  log: Log,
): Promise<{ stop(): Promise<void> } | undefined> {
  const { gateway, gatewayReach = [], gatewayReachHost = [], dataDir } = options
  if (!gateway) return undefined
  await refuseSeveralNodes(service)
  const url = options.tlsCert === undefined ? service.url : service.publicUrl
  if (!url.startsWith('https:') && !isLoopbackHost(new URL(url).hostname))
    throw new StartupError('--gateway needs --tls-cert, or a --host that includes 127.0.0.1: passwords travel over it.')
  const folder = resolve(join(dataDir, 'gateway'))
  const reach = gatewayReach.flatMap((range) => checked('--reach', () => collectRanges(range)))
  const hosts = gatewayReachHost.flatMap((host) => checked('--reach-host', () => collectHosts(host)))
  const args = [
    ...['gateway', '--url', url, '--data-dir', folder],
    ...['none', ...reach].flatMap((range) => ['--reach', range]),
    ...hosts.flatMap((host) => ['--reach-host', host]),
  ]
  const code = isEnrolled(folder) ? undefined : await enrolmentCode(terminal, service, gateway)
  // The gateway gets the variables about certificate authorities, and no others from the server's environment.
  const env = { ...terminal.certificateVariables, ...(code !== undefined && { ROOMKEEPER_GATEWAY_CODE: code }) }
  const child = new RestartedChild([...permissionFlags(folder), executableFile, ...args], env, log)
  return { stop: () => child.stop() }
}

/**
 * The gateway runs as the same user as the server. Node's permission model keeps it from reading the server's key and database, and from
 * starting processes: it reads the program and its own folder, and writes only there.
 */
function permissionFlags(folder: string): string[] {
  // Node 24 does not restrict connections, and does not know the flag.
  const network = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []
  const reads = [...codePaths(), folder].map((path) => `--allow-fs-read=${path}`)
  return ['--permission', ...network, ...reads, `--allow-fs-write=${folder}`]
}

async function refuseSeveralNodes({ services }: Service): Promise<void> {
  if (services.db.engine !== 'postgres') return
  const nodes = await listNodes(services.db.system, { endedAfter: services.clock.now() + dayMs })
  if (nodes.some(({ id, has_lock }) => has_lock && id !== services.node?.id))
    throw new StartupError(
      'Several servers run on this database. Start the gateway by itself with "roomkeeper gateway" instead of --gateway.',
    )
}

/** The options of the server have longer names than those of the gateway. */
function checked(option: '--reach' | '--reach-host', parse: () => string[]): string[] {
  try {
    return parse()
  } catch (error) {
    throw new StartupError((error as Error).message.replace(option, option.replace('--', '--gateway-')))
  }
}

function isEnrolled(folder: string): boolean {
  try {
    return GatewayFolder.open(folder).own?.identity !== undefined
  } catch (error) {
    throw error instanceof FolderError ? new StartupError(error.message) : error
  }
}

/** The code of the room; a new one if it has expired. */
async function enrolmentCode(
  terminal: Terminal,
  { services }: Service,
  { org, roomId }: NonNullable<ServeOptions['gateway']>,
): Promise<string> {
  try {
    const ctx = await commandLineActor(services, cliActor(terminal), org)
    const current = await roomsEnrolmentGet(ctx, roomId).catch((error) => {
      if (error instanceof Failure && error.code === 'FAILED_PRECONDITION') return undefined
      throw error
    })
    if (current) return current.dec
    await roomsRegenerateDec(ctx, roomId)
    return (await roomsEnrolmentGet(ctx, roomId)).dec
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new StartupError(`--gateway ${org}/${roomId} does not name a room: ${error.message}`)
  }
}

/** A process of Node that is started again when it ends, unless it says that a person is needed. */
class RestartedChild {
  readonly #args: readonly string[]
  readonly #env: Record<string, string>
  readonly #log: Log
  readonly #end = new AbortController()
  readonly #ended: Promise<void>
  #child: ChildProcess | undefined

  constructor(args: readonly string[], env: Record<string, string>, log: Log) {
    this.#args = args
    this.#env = env
    this.#log = log
    this.#ended = this.#run()
  }

  async stop(): Promise<void> {
    this.#end.abort()
    this.#child?.kill('SIGTERM')
    const isLate = await Promise.race([this.#ended.then(() => false), pause(stopLimitMs, true, { ref: false })])
    if (isLate) this.#child?.kill('SIGKILL')
    await this.#ended
  }

  async #run(): Promise<void> {
    const { signal } = this.#end
    for (let failures = 0; !signal.aborted; failures++) {
      const startedAtMs = performance.now()
      const code = await this.#start()
      if (signal.aborted) return
      if (code === needsPersonExitStatus)
        return this.#log.error('gateway stopped for good: its last line says why. Repair that, then restart the server')
      if (performance.now() - startedAtMs >= stableMs) failures = 0
      const waitMs = backOffMs(failures, restartBackOff)
      this.#log.warn({ code, waitMs: Math.round(waitMs) }, 'gateway ended, starting it again')
      await pause(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  /** Resolves with the exit code, or the name of the signal. */
  async #start(): Promise<number | string> {
    // The channel tells the gateway that the server is gone, even if it was killed.
    const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const
    const child = spawn(process.execPath, this.#args, { env: this.#env, stdio: [...stdio] })
    this.#child = child
    for (const output of [child.stdout, child.stderr])
      if (output) createInterface({ input: output }).on('line', (line) => this.#log.info({ line }, 'gateway'))
    const [code, signal] = await once(child, 'close').catch((error: Error) => [error.message, null])
    this.#child = undefined
    return signal ?? code
  }
}

// Several services of one database in the test's own process, behind a balancer that gives each connection to the next one.
// All listen on the same port of different loopback addresses, because the name of the session cookie contains the port.
import { mkdirSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { type Service, type StartSettings, startService } from '../../../src/server/app.ts'
import type { ServeOptions } from '../../../src/server/config/server-options.ts'
import type { Clock } from '../../../src/server/core/clock.ts'
import type { Log } from '../../../src/server/core/log.ts'
import { DatabaseOutage } from '../../../src/server/db/errors.ts'
import { freePort } from '../free-port.ts'

export interface ServiceGroup {
  /** The address of the balancer, or of the service if it is alone. */
  readonly url: string
  readonly mqttPort: number
  readonly members: readonly Service[]
  /** The address of the next member in turn. */
  nextUrl(): string
  close(): Promise<void>
}

/** Starts `clocks.length` services, the first one before the others. */
export async function startServices(
  options: ServeOptions,
  log: Log,
  clocks: readonly [Clock, ...Clock[]],
  settings: Pick<StartSettings, 'taskPauseShare' | 'limits' | 'consoleFiles'> = {},
): Promise<ServiceGroup> {
  if (clocks.length === 1) return alone(await start(options, log, { ...settings, clock: clocks[0] }))
  const balancers = { http: await Balancer.start(options.port || (await freePort())), mqtt: await Balancer.start() }
  const { port } = balancers.http
  const url = `http://127.0.0.1:${port}`
  const members: Service[] = []
  const close = async () => {
    await Promise.all([...members.map((member) => member.close()), balancers.http.close(), balancers.mqtt.close()])
  }
  const secretKeyFile = join(options.dataDir, 'secret.key')
  try {
    for (const [i, clock] of clocks.entries()) {
      const dataDir = i === 0 ? options.dataDir : join(options.dataDir, `node-${i + 1}`)
      mkdirSync(dataDir, { recursive: true, mode: 0o700 })
      const addresses = { publicUrl: url, publicMqttUrl: [`mqtt://127.0.0.1:${balancers.mqtt.port}`] }
      const host = `127.0.0.${i + 2}`
      const own = { ...addresses, ...options, host, port, dataDir, secretKeyFile, nodeName: `node-${i + 1}` }
      const member = await start(own, log, { ...settings, clock })
      members.push(member)
      balancers.http.add({ host, port })
      if (member.mqttPort) balancers.mqtt.add({ host: '127.0.0.1', port: member.mqttPort })
    }
  } catch (error) {
    await close()
    throw error
  }
  let calls = 0
  return {
    url,
    mqttPort: balancers.mqtt.port,
    members,
    nextUrl: () => (members[calls++ % members.length] as Service).url,
    close,
  }
}

/** On a busy machine PostgreSQL may not answer in time during a start, which then fails. It is tried a second time, as a process manager would. */
const start: typeof startService = async (...args) => {
  try {
    return await startService(...args)
  } catch (error) {
    if (!(error instanceof DatabaseOutage)) throw error
    return startService(...args)
  }
}

const alone = (service: Service): ServiceGroup => ({
  url: service.url,
  mqttPort: service.mqttPort ?? 0,
  members: [service],
  nextUrl: () => service.url,
  close: () => service.close(),
})

interface Target {
  readonly host: string
  readonly port: number
}

/** Gives each connection to the next target. It passes bytes on as they are, so that malformed requests stay malformed. */
class Balancer {
  readonly #server: Server
  readonly #targets: Target[] = []
  #connections = 0

  private constructor() {
    this.#server = createServer((near) => {
      const far = connect(this.#targets[this.#connections++ % this.#targets.length] as Target)
      near.on('error', () => {}).once('close', () => far.destroy())
      far.on('error', () => {}).once('close', () => near.destroy())
      near.pipe(far)
      far.pipe(near)
    })
  }

  /** Listens on a free port if none is given. */
  static async start(port = 0): Promise<Balancer> {
    const balancer = new Balancer()
    balancer.#server.listen(port, '127.0.0.1')
    await new Promise((resolve) => balancer.#server.once('listening', resolve))
    return balancer
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  add(target: Target): void {
    this.#targets.push(target)
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

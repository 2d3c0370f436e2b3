// One node of a cluster in a test: a real server process with ports of its own, behind a fault proxy of its own.
import type { Program, Server } from '../program.ts'
import { ready } from '../program.ts'
import type { FaultProxy } from './fault-proxy.ts'

/** Several nodes start at the same time, on a busy machine, with a PostgreSQL that waits for the disk. */
const startTimeoutMs = 60_000

interface ServerNodeOptions {
  readonly name: string
  readonly httpPort: number
  readonly mqttPort: number
  readonly proxy: FaultProxy
  /** Starts the process of this node. */
  readonly launch: () => Program
}

export class ServerNode {
  readonly name: string
  readonly url: string
  readonly mqttPort: number
  /** The network between this node and PostgreSQL. */
  readonly proxy: FaultProxy
  readonly #launch: () => Program
  #program: Program | undefined
  /** Output of all processes that this node had. */
  #earlierOutput = ''
  isPaused = false

  constructor({ name, httpPort, mqttPort, proxy, launch }: ServerNodeOptions) {
    this.name = name
    this.url = `http://127.0.0.1:${httpPort}`
    this.mqttPort = mqttPort
    this.proxy = proxy
    this.#launch = launch
  }

  get pid(): number {
    return this.#program?.pid ?? 0
  }

  get isRunning(): boolean {
    return this.#program?.isRunning ?? false
  }

  /** Everything that the processes of this node have written. */
  get output(): string {
    return `${this.#earlierOutput}${this.#program?.stdout ?? ''}${this.#program?.stderr ?? ''}`
  }

  /** Resolves when the node is ready. */
  async start(): Promise<Server> {
    if (this.isRunning) throw new Error(`${this.name} is running already`)
    this.#earlierOutput = this.output
    const program = this.#launch()
    this.#program = program
    return ready(program, startTimeoutMs)
  }

  async kill(): Promise<void> {
    this.isPaused = false
    await this.#program?.stop('SIGKILL')
  }

  async stop(withinMs = 45_000): Promise<void> {
    this.#program?.signal('SIGTERM')
    await this.#program?.exit(withinMs)
  }

  pause(): void {
    this.isPaused = true
    this.#program?.signal('SIGSTOP')
  }

  resume(): void {
    this.#program?.signal('SIGCONT')
    this.isPaused = false
  }
}

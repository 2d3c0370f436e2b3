// A gateway with drivers of tests as a process of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { compileCacheFolder } from '../program.ts'
import { newGatewayFolder } from './gateway-world.ts'

const lineGateway = join(import.meta.dirname, 'line-gateway.ts')

/** It is killed at the end of the test. */
export class ProcessGateway {
  readonly folder = newGatewayFolder()
  readonly #url: string
  readonly #code: string
  readonly #script: string
  readonly #env: NodeJS.ProcessEnv
  #child: ChildProcess

  constructor(url: string, code: string, script = lineGateway, env: NodeJS.ProcessEnv = {}) {
    this.#env = env
    this.#url = url
    this.#code = code
    this.#script = script
    this.#child = this.#start()
    onTestFinished(() => void this.#child.kill('SIGKILL'))
  }

  get pid(): number {
    return this.#child.pid as number
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await once(this.#child, 'close')
  }

  /** Starts it again with the same folder. */
  restart(): void {
    this.#child = this.#start()
  }

  #start(): ChildProcess {
    const env = { ...process.env, NODE_COMPILE_CACHE: compileCacheFolder, ...this.#env }
    const args = [this.#script, this.#url, this.folder, this.#code]
    return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  }
}

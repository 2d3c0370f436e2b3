// Processes that a bench starts: listened to for their first words, measured from outside, always ended.
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const patience = 60_000

const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

export class Child {
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  readonly #name: string
  #printed = ''

  /** Without a program of its own, `args` are Node's: flags, the file, and what it is given. */
  constructor(name: string, args: readonly string[], program = process.execPath) {
    this.#name = name
    const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('ROOMKEEPER_')))
    this.#child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    living.add(this.#child)
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      // The last words are kept, for when it fails.
      stream?.setEncoding('utf8').on('data', (text) => {
        this.#printed = (this.#printed + text).slice(-100_000)
      })
    }
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        living.delete(this.#child)
        resolve()
      })
    })
  }

  /**
   * CPU seconds that it has used since it started: what the kernel counts for each thread, in nanoseconds. It is the same
   * count as in /proc/<pid>/stat, which rounds it to hundredths.
   */
  cpu(): number {
    const tasks = `/proc/${this.#child.pid}/task`
    const nanoseconds = readdirSync(tasks).map((id) => readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0])
    return nanoseconds.reduce((sum, text) => sum + Number(text), 0) / 1e9
  }

  /** Bytes of it that are in memory now. */
  memory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
  }

  /** The first match in what it has written, now or soon, since the last time that it was asked. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = performance.now() + patience
    for (;;) {
      const match = pattern.exec(this.#printed)
      if (match) {
        this.#printed = this.#printed.slice(match.index + match[0].length)
        return match
      }
      if (!living.has(this.#child)) throw new Error(`${this.#name} ended early:\n${this.#printed}`)
      if (performance.now() > deadline) throw new Error(`${this.#name} is silent about ${pattern}:\n${this.#printed}`)
      await pause(5)
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    const killer = setTimeout(() => this.#child.kill('SIGKILL'), 20_000)
    await this.#ended
    clearTimeout(killer)
  }

  /** Waits until it ends by itself, and gives what it wrote. */
  async output(): Promise<string> {
    await this.#ended
    if (this.#child.exitCode !== 0) throw new Error(`${this.#name} failed:\n${this.#printed}`)
    return this.#printed
  }
}

// A process that a bench starts: its output can be awaited, its CPU and memory are read from /proc, and it is always ended.
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const outputTimeoutMs = 60_000
const outputPollMs = 5
const stopTimeoutMs = 20_000
const maxOutputCharacters = 100_000

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export class Subprocess {
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  readonly #name: string
  #output = ''

  /** Without `program`, Node is started and `args` are its flags, the file and the arguments of the file. */
  constructor(name: string, args: readonly string[], program = process.execPath) {
    this.#name = name
    const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('ROOMKEEPER_')))
    this.#child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(this.#child)
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      // The end of the output is kept for error messages.
      stream?.setEncoding('utf8').on('data', (text) => {
        this.#output = (this.#output + text).slice(-maxOutputCharacters)
      })
    }
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        running.delete(this.#child)
        resolve()
      })
    })
  }

  /**
   * CPU time since the process started. The kernel counts it for each thread in nanoseconds; /proc/<pid>/stat has the same
   * count, rounded to hundredths of a second.
   */
  cpuSeconds(): number {
    const tasks = `/proc/${this.#child.pid}/task`
    const nanoseconds = readdirSync(tasks).map((id) => readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0])
    return nanoseconds.reduce((sum, text) => sum + Number(text), 0) / 1e9
  }

  residentBytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
  }

  /** Waits for a match in the output after the previous match. */
  async waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = performance.now() + outputTimeoutMs
    for (;;) {
      const match = pattern.exec(this.#output)
      if (match) {
        this.#output = this.#output.slice(match.index + match[0].length)
        return match
      }
      if (!running.has(this.#child)) throw new Error(`${this.#name} ended early. Its output:\n${this.#output}`)
      if (performance.now() > deadline) {
        throw new Error(`${this.#name} did not print ${pattern} in time. Its output:\n${this.#output}`)
      }
      await sleep(outputPollMs)
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    const killTimer = setTimeout(() => this.#child.kill('SIGKILL'), stopTimeoutMs)
    await this.#ended
    clearTimeout(killTimer)
  }

  /** Waits until the process ends by itself and returns its output. */
  async waitForExit(): Promise<string> {
    await this.#ended
    if (this.#child.exitCode !== 0) throw new Error(`${this.#name} failed. Its output:\n${this.#output}`)
    return this.#output
  }
}

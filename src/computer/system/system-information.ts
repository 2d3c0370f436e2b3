// Asks the process of systeminformation, one call at a time, and replaces a process that does not answer.
import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { hourMs } from '../../contract/durations.ts'
import type { SystemAnswer, SystemCall, SystemFacts, SystemRequest } from './calls.ts'

/** In an installed package the process is compiled into a file of its own, beside the rest of the program. */
const processFile = new URL(import.meta.url.endsWith('.ts') ? './process.ts' : './system-process.js', import.meta.url)

export interface SystemInformationOptions {
  readonly onProblem: (text: string) => void
  readonly timeoutMs?: number
  /** Only tests name another file. */
  readonly file?: URL
}

/** The slowest call takes 0.2 s on a quiet machine. */
const usualTimeoutMs = 20_000
/** A call can hang because a network disk is gone. Each attempt then leaves a program that cannot be ended, so there are few. */
const pauseAfterHangMs = hourMs

export class SystemInformation {
  readonly #options: SystemInformationOptions
  #child: ChildProcess | undefined
  /** Calls run one after the other. */
  #last: Promise<unknown> = Promise.resolve()
  #count = 0
  readonly #pausedUntilMs = new Map<SystemCall, number>()
  #isStopped = false

  constructor(options: SystemInformationOptions) {
    this.#options = options
  }

  /** The answers of these calls; a call that failed or hung is absent. */
  async read(calls: readonly SystemCall[]): Promise<SystemFacts> {
    const facts: Record<string, unknown> = {}
    for (const call of calls) {
      const answer = this.#last.then(() => this.#ask(call))
      this.#last = answer
      const value = await answer
      if (value !== undefined) facts[call] = value
    }
    return facts as SystemFacts
  }

  stop(): void {
    this.#isStopped = true
    this.#end()
  }

  /** Never rejects. */
  async #ask(call: SystemCall): Promise<unknown> {
    if (this.#isStopped || performance.now() < (this.#pausedUntilMs.get(call) ?? 0)) return undefined
    const child = this.#start()
    const id = ++this.#count
    const done = new AbortController()
    const timeoutMs = this.#options.timeoutMs ?? usualTimeoutMs
    try {
      const answer = await Promise.race([
        answerOf(child, { id, call }, done.signal),
        pause(timeoutMs, 'hung' as const, { signal: done.signal }),
      ])
      if (answer === 'hung') {
        this.#pausedUntilMs.set(call, performance.now() + pauseAfterHangMs)
        this.#end()
        this.#options.onProblem(
          `Reading "${call}" took longer than ${timeoutMs / 1000} s. It is tried again in an hour.`,
        )
        return undefined
      }
      if (answer.error !== undefined) this.#options.onProblem(`Reading "${call}" failed: ${answer.error}`)
      return answer.value
    } finally {
      done.abort()
    }
  }

  /** A process group of its own, to end what the process has started with it. */
  #start(): ChildProcess {
    if (this.#child?.connected) return this.#child
    const child = fork(this.#options.file ?? processFile, { detached: true, execArgv: [], stdio: 'ignore' })
    child.unref()
    child.channel?.unref()
    child.on('error', () => {})
    this.#child = child
    return child
  }

  #end(): void {
    const child = this.#child
    this.#child = undefined
    try {
      if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The process has ended by itself.
    }
  }
}

/** A process that ends instead of answering is an error, and the next call starts another. */
function answerOf(child: ChildProcess, request: SystemRequest, signal: AbortSignal): Promise<SystemAnswer> {
  return new Promise((resolve) => {
    const { id } = request
    const onMessage = (answer: SystemAnswer) => {
      if (answer.id === id) resolve(answer)
    }
    const onEnd = () => resolve({ id, error: 'the process has ended' })
    child.on('message', onMessage).once('exit', onEnd)
    signal.addEventListener('abort', () => child.off('message', onMessage).off('exit', onEnd), { once: true })
    child.send(request, (error) => error && resolve({ id, error: error.message }))
  })
}

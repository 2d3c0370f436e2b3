// Runs at most a number of tasks of each name at the same time. The others wait in order.

interface NamedTasks {
  running: number
  readonly waiting: (() => void)[]
}

export interface ConcurrencyLimits {
  readonly maxRunning: number
  /** A task that would wait for longer is refused with the error that `refusal` returns. Without it tasks wait as long as it takes. */
  readonly wait?: { readonly maxMs: number; readonly refusal: () => Error }
}

export class ConcurrencyLimiter<Name> {
  readonly #limits: ConcurrencyLimits
  readonly #tasks = new Map<Name, NamedTasks>()

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits
  }

  async run<T>(name: Name, task: () => Promise<T>): Promise<T> {
    const tasks = this.#tasks.get(name) ?? { running: 0, waiting: [] }
    this.#tasks.set(name, tasks)
    if (tasks.running < this.#limits.maxRunning) tasks.running++
    else await this.#place(tasks)
    try {
      return await task()
    } finally {
      // The next task takes over the place, so the number of running tasks stays the same.
      const next = tasks.waiting.shift()
      if (next) next()
      else if (--tasks.running === 0) this.#tasks.delete(name)
    }
  }

  #place({ waiting }: NamedTasks): Promise<void> {
    const { wait } = this.#limits
    return new Promise((resolve, reject) => {
      if (!wait) return void waiting.push(resolve)
      const start = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1)
        reject(wait.refusal())
      }, wait.maxMs)
      waiting.push(start)
    })
  }
}

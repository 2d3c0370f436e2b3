// Limits how many tasks with the same key run at the same time. Further tasks wait in the order of their arrival.

interface TaskQueue {
  running: number
  readonly waiting: (() => void)[]
}

export interface ConcurrencyLimits {
  readonly maxRunning: number
  /** A task that would wait for longer is refused with the error that `refusal` returns. Without it tasks wait as long as it takes. */
  readonly wait?: { readonly maxMs: number; readonly refusal: () => Error }
  /** A task that runs for longer, as on a lost connection, makes room for the next one. Without it only its end does. */
  readonly maxRunMs?: number
}

export class ConcurrencyLimiter<Key> {
  readonly #limits: ConcurrencyLimits
  readonly #queues = new Map<Key, TaskQueue>()

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits
  }

  run<T>(key: Key, task: () => Promise<T>): Promise<T> {
    return this.#run(key, task, this.#limits.wait)
  }

  /** The task waits as long as it takes. */
  runPatiently<T>(key: Key, task: () => Promise<T>): Promise<T> {
    return this.#run(key, task, undefined)
  }

  async #run<T>(key: Key, task: () => Promise<T>, wait: ConcurrencyLimits['wait']): Promise<T> {
    const queue = this.#queues.get(key) ?? { running: 0, waiting: [] }
    this.#queues.set(key, queue)
    if (queue.running < this.#limits.maxRunning) queue.running++
    else await waitForTurn(queue, wait)
    let isCounted = true
    const end = () => {
      if (!isCounted) return
      isCounted = false
      // The next task starts in place of this one, so the number of running tasks stays the same.
      const next = queue.waiting.shift()
      if (next) next()
      else if (--queue.running === 0) this.#queues.delete(key)
    }
    const { maxRunMs } = this.#limits
    const timer = maxRunMs === undefined ? undefined : setTimeout(end, maxRunMs)
    try {
      return await task()
    } finally {
      clearTimeout(timer)
      end()
    }
  }
}

function waitForTurn({ waiting }: TaskQueue, wait: ConcurrencyLimits['wait']): Promise<void> {
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

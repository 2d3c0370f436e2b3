// Waits for conditions that change only when a message is heard.
export class ConditionWaiter {
  readonly #checks = new Set<() => void>()

  /** Resolves with whether the condition became true within the time. */
  until(isTrue: () => boolean, timeoutMs: number): Promise<boolean> {
    if (isTrue()) return Promise.resolve(true)
    return new Promise((resolve) => {
      const finish = (result: boolean) => {
        clearTimeout(timer)
        this.#checks.delete(check)
        resolve(result)
      }
      const check = () => {
        if (isTrue()) finish(true)
      }
      const timer = setTimeout(() => finish(false), timeoutMs)
      this.#checks.add(check)
    })
  }

  /** Must be called after each message. */
  check(): void {
    for (const check of this.#checks) check()
  }
}

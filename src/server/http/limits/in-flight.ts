// Counts the requests that are not answered yet, so that a service that stops can wait for them.

export class InFlightRequests {
  #count = 0
  #isDraining = false
  readonly #idle = Promise.withResolvers<void>()

  get isDraining(): boolean {
    return this.#isDraining
  }

  begin(): void {
    this.#count++
  }

  end(): void {
    this.#count--
    if (this.#isDraining && this.#count === 0) this.#idle.resolve()
  }

  /** Resolves when no request is in flight any more, at the latest after the timeout. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true
    if (this.#count === 0) return
    const timer = setTimeout(this.#idle.resolve, timeoutMs)
    await this.#idle.promise
    clearTimeout(timer)
  }
}

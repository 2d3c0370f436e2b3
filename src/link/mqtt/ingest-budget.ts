// How much of what devices sent may be under way at once, over all connections: what is beyond waits in line, in its socket.

/** In bytes, received and not dealt with yet: devices that all come back at once must not fill the memory. */
const most = 16 * 1024 * 1024
/** What a message takes beside its bytes, roughly: many small ones count too. */
const besides = 1024
/** So many in line are a crowd: whoever wants to connect now is told to come later. */
const crowd = 1000
/** Of those in line, in bytes, in one turn of the event loop: everybody else wants to go on, too. */
const mostAtOnce = 512 * 1024

/** Somebody with a message in hand. */
export interface Bearer {
  /** Its message has its place now. */
  go(): void
}

export class Pressure {
  #underWay = 0
  /** Who waits with how many bytes; the first is the next. */
  readonly #line = new Map<Bearer, number>()
  #isCalling = false

  /** In bytes. */
  get underWay(): number {
    return this.#underWay
  }

  get waiting(): number {
    return this.#line.size
  }

  get isCrowded(): boolean {
    return this.#line.size >= crowd
  }

  /** A place for a message of that size; false if there is none. */
  take(size: number): boolean {
    if (this.#underWay >= most || this.#line.size > 0) return false
    this.add(size)
    return true
  }

  /** The same; false if the bearer is in line now, behind all others: it is called. */
  takeOrWait(size: number, bearer: Bearer): boolean {
    if (this.take(size)) return true
    this.#line.set(bearer, size)
    return false
  }

  /** It has come, whether there is a place or not. */
  add(size: number): void {
    this.#underWay += size + besides
  }

  /** It was dealt with, or went away. */
  free(size: number): void {
    this.#underWay -= size + besides
    this.#call()
  }

  /** Nobody waits there any more. */
  leave(bearer: Bearer): void {
    this.#line.delete(bearer)
    this.#call()
  }

  #call(): void {
    if (this.#line.size === 0 || this.#isCalling || this.#underWay >= most) return
    this.#isCalling = true
    setImmediate(() => {
      this.#isCalling = false
      let called = 0
      for (const [bearer, size] of this.#line) {
        if (this.#underWay >= most || called >= mostAtOnce) break
        this.#line.delete(bearer)
        this.add(size)
        called += size
        bearer.go()
      }
      this.#call()
    })
  }
}

// Remembers which messages the channels of an organisation want, so that unaudited writes need not read it every time.

/** Other nodes change channels too, so the text is read again after this time. [contract 10.channel] */
const maxAgeMs = 1000

/** The text of `audit_heads.wanted_messages` as this process last read it. */
export class WantedMessages {
  #text: string | undefined
  #readAtMs = 0

  /** Undefined if it must be read again. */
  get text(): string | undefined {
    return performance.now() - this.#readAtMs < maxAgeMs ? this.#text : undefined
  }

  remember(text: string): void {
    this.#text = text
    this.#readAtMs = performance.now()
  }

  /** Must be called after this process changed a channel. */
  clear(): void {
    this.#text = undefined
  }
}

// The address under which others reach the service. It is known when the HTTP server listens, unless an option names it.

export class PublicAddress {
  readonly #given: string | undefined
  #assumed = ''

  constructor(given: string | undefined) {
    this.#given = given
  }

  /** Has no effect if an option named the address. */
  assume(url: string): void {
    this.#assumed = url
  }

  readonly get = (): string => this.#given ?? this.#assumed

  /** The address for which browsers store passkeys. Undefined if the address is neither given nor localhost. [contract 11.local] */
  readonly ofPasskeys = (): string | undefined =>
    this.#given ?? (URL.parse(this.#assumed)?.hostname === 'localhost' ? this.#assumed : undefined)
}

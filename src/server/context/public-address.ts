// The address under which others reach the service. It is known when the HTTP server listens, unless an option names it.

export class PublicAddress {
  #url: string

  constructor(url = '') {
    this.#url = url
  }

  /** Has no effect if an option named the address. */
  setDefault(url: string): void {
    this.#url ||= url
  }

  readonly get = (): string => this.#url
}

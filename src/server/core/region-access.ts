// The regions whose things a caller sees: all of the organisation, or a set. [contract 11.access]

export class RegionAccess {
  /** Sees the whole organisation, also what is in no region. */
  static readonly everything = new RegionAccess(undefined)
  static readonly nothing = new RegionAccess([])

  /** Sorted and without duplicates; undefined for everything. An empty list means nothing. */
  readonly regionIds: readonly number[] | undefined
  readonly #set: ReadonlySet<number> | undefined

  private constructor(regionIds: readonly number[] | undefined) {
    this.#set = regionIds && new Set(regionIds)
    this.regionIds = this.#set && [...this.#set].sort((a, b) => a - b)
  }

  static of(regionIds: readonly number[]): RegionAccess {
    return new RegionAccess(regionIds)
  }

  get isEverything(): boolean {
    return this.#set === undefined
  }

  /** A thing without a region is visible only to callers who see everything. */
  sees(regionId: number | null | undefined): boolean {
    return !this.#set || (typeof regionId === 'number' && this.#set.has(regionId))
  }

  /** Returns whether one of the regions is visible. */
  seesAny(regionIds: readonly (number | null)[]): boolean {
    return !this.#set || regionIds.some((id) => this.sees(id))
  }

  /** Returns whether all of the regions are visible; of none, only to callers who see everything. */
  seesAll(regionIds: readonly (number | null)[]): boolean {
    return !this.#set || (regionIds.length > 0 && regionIds.every((id) => this.sees(id)))
  }

  /** Returns whether this caller sees all that the other sees. */
  includes({ regionIds }: RegionAccess): boolean {
    return !this.#set || regionIds?.every((id) => this.sees(id)) === true
  }

  /** Equal for callers that see the same regions. */
  get key(): string {
    return this.regionIds === undefined ? 'everything' : `regions ${this.regionIds.join()}`
  }
}

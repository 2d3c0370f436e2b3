// The figures that a load generator returns.

export interface LoadResult {
  /** One value for each operation. */
  readonly latenciesMs: Float64Array
  /** Duration of all operations together. */
  readonly seconds: number
}

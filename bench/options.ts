// The signature of a bench and the options that the entry point passes to each of them.
import type { Cleanup } from './cleanup.ts'
import type { CpuProfiles } from './measure/cpu-profile.ts'
import type { Row } from './measure/figures.ts'

export interface BenchOptions {
  readonly quick: boolean
  /** Records CPU profiles with --profile. Figures of such a run are not comparable with others. */
  readonly profiles: CpuProfiles
  readonly cleanup: Cleanup
}

export type Bench = (options: BenchOptions) => Promise<Row[]>

// Starts the suites that take long first: at the end of a run no worker has a long suite while the others have nothing to do.
// Suites with processes and browsers take longest.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const kinds = ['process', 'browser', 'http', 'db'] as const

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = kinds.findIndex((kind) => moduleId.endsWith(`.${kind}.test.ts`))
  return rank < 0 ? kinds.length : rank
}

export class SlowKindsFirst extends BaseSequencer {
  /** Vitest sorts the suites of a kind by size. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // A worker that changes to another project loads the program again, so projects stay together.
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project)
    return [...byProject.values()].flatMap((specs) => specs.toSorted((a, b) => rankOf(a) - rankOf(b)))
  }
}

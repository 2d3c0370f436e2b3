// Starts the suites with processes and browsers first: they take longest, and at the end of a run no worker may have a long suite while
// the others have nothing to do.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const isSlow = ({ moduleId }: TestSpecification) => /\.(process|browser)\.test\.ts$/.test(moduleId)

export class SlowKindsFirst extends BaseSequencer {
  /**
   * Vitest sorts suites by the time that they took, or by size in a fresh checkout. That mixes suites that wait with suites that
   * compute, so cores are seldom idle.
   */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // A worker that changes to another project loads the program again, so projects stay together. The largest, with most of the short
    // suites, is the last.
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project)
    return [...byProject.values()]
      .toSorted((a, b) => a.length - b.length)
      .flatMap((specs) => [...specs.filter(isSlow), ...specs.filter((spec) => !isSlow(spec))])
  }
}

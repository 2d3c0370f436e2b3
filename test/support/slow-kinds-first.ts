// Starts the suites with processes and browsers early: they take longest, and at the end of a run no worker may have a long suite while
// the others have nothing to do.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** This part of the other suites runs between the slow ones, which often wait; the rest runs after them. */
const shareBetween = 0.6

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
      .flatMap((specs) =>
        mix(
          specs.filter(isSlow),
          specs.filter((spec) => !isSlow(spec)),
        ),
      )
  }
}

/** Puts some of the others after each slow suite, so that cores are not idle while several slow suites wait. */
function mix<T>(slow: readonly T[], others: readonly T[]): readonly T[] {
  const end = (i: number) => Math.floor((shareBetween * others.length * i) / slow.length)
  return [
    ...slow.flatMap((suite, i) => [suite, ...others.slice(end(i), end(i + 1))]),
    ...others.slice(end(slow.length)),
  ]
}

// Closes everything that a bench has opened, in reverse order, also when the bench fails.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export class Cleanup {
  readonly #steps: (() => unknown)[] = []

  add(step: () => unknown): void {
    this.#steps.push(step)
  }

  /** Creates an empty folder, which is removed by `run` or when the process exits. */
  tempFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-bench-'))
    // The retries are for a process that was just killed and still has a file open.
    const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    process.once('exit', remove)
    this.add(() => {
      process.off('exit', remove)
      remove()
    })
    return folder
  }

  async run(): Promise<void> {
    const failures: unknown[] = []
    for (const step of this.#steps.reverse()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Some resources of the bench could not be closed.')
  }
}

// Everything that a bench opens is closed in the end, the last first, also when it fails.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export class Ending {
  readonly #steps: (() => unknown)[] = []

  add(step: () => unknown): void {
    this.#steps.push(step)
  }

  /** An empty folder that goes away. */
  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-bench-'))
    // A process that was just killed may have a file open a little longer.
    const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    // Also when somebody interrupts.
    process.once('exit', remove)
    this.add(() => {
      process.off('exit', remove)
      remove()
    })
    return folder
  }

  async run(): Promise<void> {
    const failed: unknown[] = []
    for (const step of this.#steps.reverse()) {
      try {
        await step()
      } catch (error) {
        failed.push(error)
      }
    }
    if (failed.length > 0) throw new AggregateError(failed, 'not everything could be closed')
  }
}

// Checks that the units of a job only go forward, and that each of its endpoints was changed exactly once.
import { expect } from 'vitest'
import type { UnitState } from '../../../src/contract/jobs/job-states.ts'
import type { Reply } from '../harness.ts'

/** A unit that waits may wait for something else, but what has begun does not become one that has not. */
const ranks: Partial<Record<UnitState, number>> = {
  PENDING: 0,
  WAITING: 1,
  RUNNING: 2,
  SOAKING: 3,
  ROLLED_BACK: 5,
  KEPT: 5,
}
const finalRank = 4
const rankOf = (state: UnitState): number => ranks[state] ?? finalRank

export class UnitProgress {
  readonly #states = new Map<number, UnitState>()

  /** Compares units with what they were when they were last seen. */
  see(units: readonly { readonly number: number; readonly state: UnitState }[]): void {
    for (const { number, state } of units) {
      const before = this.#states.get(number) ?? 'PENDING'
      const isForward = rankOf(state) >= finalRank && rankOf(before) === rankOf(state) ? state === before : true
      expect(isForward && rankOf(state) >= rankOf(before), `unit ${number}: ${before}, then ${state}`).toBe(true)
      this.#states.set(number, state)
    }
  }
}

type Query = (sql: string) => Promise<Record<string, unknown>[]>

/** Every effect of a job is a config version that names it, or an operation. Its rollback makes one more version. The tests request no other reboots while a job runs. */
export async function expectOnce(query: Query, job: Reply['body'], endpointIds: readonly string[]): Promise<void> {
  const id = Number(job.id)
  const { type, message } = job.action
  const operations = type === 'REBOOT' ? `created_at >= ${Date.parse(job.startedAt)}` : `payload like '%${message}%'`
  const effects =
    type === 'CONFIG'
      ? await query(`select endpoint_id from config_versions where job_id = ${id}`)
      : await query(`select endpoint_id from operations where type = '${type}' and ${operations}`)
  const expected = job.state === 'ROLLED_BACK' ? [...endpointIds, ...endpointIds] : endpointIds
  expect(effects.map(({ endpoint_id }) => endpoint_id).toSorted(), `effects of job ${id}`).toEqual(expected.toSorted())
}

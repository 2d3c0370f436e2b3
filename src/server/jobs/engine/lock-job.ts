// Locks a job for a step of the engine, unless a person's step came first. [contract 12.states]
import type { TelemetryTx, Tx } from '../../db/handles.ts'
import type { JobRow } from '../rows.ts'
import { lockJobProgress } from './progress-store.ts'

/**
 * Locks the job. Returns false if a person's step has changed it since the engine read it: the actor may be another one now. Progress of
 * units makes no version.
 */
export async function lockJobIfUnchanged(tx: Tx | TelemetryTx, job: JobRow): Promise<boolean> {
  const [present] = await lockJobProgress(tx, { job: job.id })
  return present?.version === job.version
}

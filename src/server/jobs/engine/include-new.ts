// Adds endpoints that match the target of a running job since its start, as units of its last stage. [contract 12.job]
import type { RequestContext } from '../../context/request-context.ts'
import { change } from '../../journal/audit/change.ts'
import { jobRef, locatedRows } from '../announce.ts'
import { newUnitsOf, prepareLaterUnits } from '../request/prepare.ts'
import { actionOfJob, settingsOfJob, targetOfJob } from '../rows.ts'
import { insertUnits } from '../units/new-unit-store.ts'
import { type StepInput, systemContext } from './apply.ts'
import { OutdatedStep } from './effects/effect.ts'
import { lockJobIfUnchanged } from './lock-job.ts'
import { updateJobSize } from './progress-store.ts'

/** Reads with the rights of the actor, and returns how many units were added. */
export async function includeNew(input: StepInput, actor: RequestContext): Promise<number> {
  const { services, org, job } = input
  const content = { target: targetOfJob(job), action: actionOfJob(job), settings: settingsOfJob(job) }
  const now = services.clock.now()
  const prepared = await prepareLaterUnits(actor, content, job)
  // Without skipConflicts a unit with a conflict begins, and fails with the reason.
  const { skipConflicts } = content.settings
  const found = await newUnitsOf(skipConflicts ? prepared : { ...prepared, conflicts: new Map() }, now)
  // Numbers go on after those of the job, so that the new units begin last.
  const units = found.map((unit, i) => ({ ...unit, number: job.unit_count + 1 + i, stage: job.stage_count }))
  if (units.length === 0) return 0
  const places = await input.places()
  try {
    return await change(systemContext(services, org), 'jobExtend', async (tx) => {
      if (!(await lockJobIfUnchanged(tx, job))) throw new OutdatedStep()
      await insertUnits(tx, job.id, units)
      const endpoints = units.reduce((sum, unit) => sum + unit.endpoints.length, 0)
      await updateJobSize(tx, { job: job.id, units: units.length, endpoints, now })
      return {
        result: units.length,
        target: jobRef(job),
        after: { unitCount: job.unit_count + units.length, endpointCount: job.endpoint_count + endpoints },
        located: locatedRows(places),
      }
    })
  } catch (error) {
    // A person has paused or cancelled the job: the next run, if there is one, finds the endpoints again.
    if (error instanceof OutdatedStep) return 0
    throw error
  }
}

// Makes the request context of a job's actor, with what the actor may do and see now. [contract 12.rights]
import { jobActions } from '../../../contract/jobs/action-table.ts'
import { keyHolderOf, type Org, type TokenHolder, userFieldsOf } from '../../auth/token-holder.ts'
import { contextOf, RequestContext, unrestrictedContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { actionOfJob, type JobRow } from '../rows.ts'
import { findKeyHolderById, findPersonById } from './actor-store.ts'

/** A job, or a recurring one. */
type ActedRow = Pick<JobRow, 'action' | 'actor_type' | 'actor_id' | 'actor_name' | 'user_id' | 'key_id'>

/** Returns a sentence that says why the job cannot go on, if the actor may not do its action any more. */
export async function findActorContext(services: Services, org: Org, job: ActedRow): Promise<RequestContext | string> {
  const found = await findContext(services, org, job)
  if (typeof found === 'string') return found
  const { needs } = jobActions[actionOfJob(job).type]
  if (!found.may(needs)) return `${job.actor_name} may no longer do this: it needs the permission ${needs}.`
  return found
}

async function findContext(services: Services, { key, id }: Org, job: ActedRow): Promise<RequestContext | string> {
  const on = services.db.forOrg(key)
  const org = { key, id }
  const gone = `${job.actor_name} no longer has access to this organisation.`
  if (job.key_id !== null) {
    const row = await findKeyHolderById(on, { id: job.key_id })
    const holder = row && keyHolderOf({ ...row, org: key, org_id: id })
    return holder && isValid(holder, services.clock.now()) ? contextOf(services, holder, {}) : gone
  }
  if (job.user_id !== null) {
    const row = await findPersonById(on, { id: job.user_id })
    if (!row) return gone
    const person = userFieldsOf(row)
    return new RequestContext(services, { org, ...person, may: (permission) => person.permissions[permission] })
  }
  if (job.actor_type !== 'CLI') return gone
  return unrestrictedContext(services, org, { type: job.actor_type, id: job.actor_id, name: job.actor_name })
}

const isValid = ({ expiresAt, refusedFrom }: TokenHolder, now: number): boolean =>
  (expiresAt === null || expiresAt > now) && (!refusedFrom || refusedFrom.at > now)

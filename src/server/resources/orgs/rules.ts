// Organisations: made by the first start and by the command line, which also sets their time zone.

import type { Org } from '../../auth/keyring.ts'
import { randomText } from '../../auth/token.ts'
import { type Actor, RequestContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { mustFind, StartupError } from '../../core/failure.ts'
import { nameProblem } from '../../core/text.ts'
import { timeZoneProblem } from '../../core/time-zone.ts'
import { SystemReader } from '../../db/system.ts'
import { auditRef, change, changeNewOrg } from '../audit/change.ts'
import { findOrg, insertOrg, updateTimezone } from './store.ts'

/** Seven URL-safe characters, such as LXJ45kN. [contract 1.5] */
const newId = () => randomText(7)

export const orgCreate = (services: Services, actor: Actor, name: string, timezone = 'UTC'): Promise<Org> =>
  changeNewOrg(services, actor, async (tx) => {
    const problem = nameProblem(name)
    if (problem) throw new StartupError(`The name of an organisation ${problem}.`)
    mustBeZone(timezone)
    const trimmed = name.trim()
    const id = newId()
    const key = await insertOrg(tx, id, trimmed, timezone, services.clock.now())
    return {
      result: { key, id },
      target: auditRef('organisation', { id, name: trimmed }),
      after: { name: trimmed, timezone },
    }
  })

/** From now on its days are those of this zone; what daily history there is follows by itself. [contract 6.sensorHistory] */
export const orgTimezone = (ctx: RequestContext, timezone: string): Promise<void> =>
  change(ctx, 'orgTimezone', async (tx) => {
    mustBeZone(timezone)
    const org = mustFind(await findOrg(SystemReader.within(tx), { id: ctx.org.id }), `organisation ${ctx.org.id}`)
    await updateTimezone(tx, { timezone })
    return {
      result: undefined,
      target: auditRef('organisation', org),
      before: { timezone: org.timezone },
      after: { timezone },
    }
  })

function mustBeZone(timezone: string): void {
  const problem = timeZoneProblem(timezone)
  if (problem) throw new StartupError(`The time zone of an organisation ${problem}.`)
}

/** Somebody who holds the database: may do everything in the organisation. */
export async function commandLineActor(services: Services, actor: Actor, orgId: string): Promise<RequestContext> {
  const org = await findOrg(services.db.system, { id: orgId })
  if (!org) throw new StartupError(`There is no organisation ${orgId}. See "org list".`)
  return new RequestContext(services, { actor, org: { key: org.key, id: org.id }, may: () => true })
}

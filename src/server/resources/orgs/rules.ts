// Creates organisations, and changes their time zone. The first start and the command line call these functions.

import { randomText } from '../../auth/token.ts'
import type { Org } from '../../auth/token-holder.ts'
import { type Actor, type RequestContext, unrestrictedContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { mustFind, StartupError } from '../../core/failure.ts'
import { nameProblem } from '../../core/text.ts'
import { timeZoneProblem } from '../../core/time/time-zone.ts'
import { SystemReader } from '../../db/system.ts'
import { change, changeNewOrg } from '../audit/change.ts'
import { auditRef } from '../audit/change-result.ts'
import { findOrg, insertOrg, updateTimezone } from './store.ts'

/** An organisation's id has seven URL-safe characters, such as LXJ45kN. [contract 1.5] */
const makeOrgId = () => randomText(7)

export const orgCreate = (services: Services, actor: Actor, name: string, timezone = 'UTC'): Promise<Org> =>
  changeNewOrg(services, actor, async (tx) => {
    const problem = nameProblem(name)
    if (problem) throw new StartupError(`The name of an organisation ${problem}.`)
    requireTimeZone(timezone)
    const trimmed = name.trim()
    const id = makeOrgId()
    const key = await insertOrg(tx, id, trimmed, timezone, services.clock.now())
    return {
      result: { key, id },
      target: auditRef('organisation', { id, name: trimmed }),
      after: { name: trimmed, timezone },
    }
  })

/** Sets the time zone in which days begin. Existing daily history is recomputed in the background. [contract 6.sensorHistory] */
export const orgTimezone = (ctx: RequestContext, timezone: string): Promise<void> =>
  change(ctx, 'orgTimezone', async (tx) => {
    requireTimeZone(timezone)
    const org = mustFind(await findOrg(SystemReader.within(tx), { id: ctx.org.id }), `organisation ${ctx.org.id}`)
    await updateTimezone(tx, { timezone })
    return {
      result: undefined,
      target: auditRef('organisation', org),
      before: { timezone: org.timezone },
      after: { timezone },
    }
  })

function requireTimeZone(timezone: string): void {
  const problem = timeZoneProblem(timezone)
  if (problem) throw new StartupError(`The time zone of an organisation ${problem}.`)
}

export async function commandLineActor(services: Services, actor: Actor, orgId: string): Promise<RequestContext> {
  const org = await findOrg(services.db.system, { id: orgId })
  if (!org) throw new StartupError(`There is no organisation ${orgId}. See "org list".`)
  return unrestrictedContext(services, { key: org.key, id: org.id }, actor)
}

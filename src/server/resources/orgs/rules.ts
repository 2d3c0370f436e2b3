// Organisations: made by the first start and by the command line, which also sets their time zone.
import type { Org } from '../../auth/keyring.ts'
import { randomText } from '../../auth/token.ts'
import type { Actor, By, Ground } from '../../context/request-context.ts'
import { found, Refusal } from '../../core/failure.ts'
import { nameProblem } from '../../core/text.ts'
import { zoneProblem } from '../../core/time-zone.ts'
import { change, changeNewOrg, ref } from '../audit/change.ts'
import { findOrg, insertOrg, updateTimezone } from './store.ts'

/** Seven URL-safe characters, such as LXJ45kN. [contract 1.5] */
const newId = () => randomText(7)

export const orgCreate = (ground: Ground, actor: Actor, name: string, timezone = 'UTC'): Promise<Org> =>
  changeNewOrg(ground, actor, async (tx) => {
    const problem = nameProblem(name)
    if (problem) throw new Refusal(`The name of an organisation ${problem}.`)
    mustBeZone(timezone)
    const trimmed = name.trim()
    const id = newId()
    const key = await insertOrg(tx, id, trimmed, timezone, ground.clock.now())
    return {
      result: { key, id },
      target: ref('organisation', { id, name: trimmed }),
      after: { name: trimmed, timezone },
    }
  })

/** From now on its days are those of this zone; what daily history there is follows by itself. [contract 6.sensorHistory] */
export const orgTimezone = (by: By, timezone: string): Promise<void> =>
  change(by, 'orgTimezone', async (tx) => {
    mustBeZone(timezone)
    const org = found(await findOrg(tx, by.org.id), `organisation ${by.org.id}`)
    await updateTimezone(tx, by.org.key, timezone)
    return {
      result: undefined,
      target: ref('organisation', org),
      before: { timezone: org.timezone },
      after: { timezone },
    }
  })

function mustBeZone(timezone: string): void {
  const problem = zoneProblem(timezone)
  if (problem) throw new Refusal(`The time zone of an organisation ${problem}.`)
}

/** Somebody who holds the database: may do everything in the organisation. */
export async function administrator(ground: Ground, actor: Actor, orgId: string): Promise<By> {
  const org = await findOrg(ground.db, orgId)
  if (!org) throw new Refusal(`There is no organisation ${orgId}. See "org list".`)
  return { ground, actor, org: { key: org.key, id: org.id }, may: () => true }
}

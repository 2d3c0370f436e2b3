// Organisations: made by the first start and by the command line.
import type { Org } from '../../platform/auth/keyring.ts'
import { randomText } from '../../platform/auth/token.ts'
import type { Actor, By, Ground } from '../../platform/by.ts'
import { Refusal } from '../../platform/failure.ts'
import { nameProblem } from '../../platform/text.ts'
import { changeNewOrg, ref } from '../audit/change.ts'
import { findOrg, insertOrg } from './store.ts'

/** Seven URL-safe characters, such as LXJ45kN. [contract 1.5] */
const newId = () => randomText(7)

export const orgCreate = (ground: Ground, actor: Actor, name: string): Promise<Org> =>
  changeNewOrg(ground, actor, async (tx) => {
    const problem = nameProblem(name)
    if (problem) throw new Refusal(`The name of an organisation ${problem}.`)
    const trimmed = name.trim()
    const id = newId()
    const key = await insertOrg(tx, id, trimmed, ground.clock.now())
    return { result: { key, id }, target: ref('organisation', { id, name: trimmed }), after: { name: trimmed } }
  })

/** Somebody who holds the database: may do everything in the organisation. */
export async function administrator(ground: Ground, actor: Actor, orgId: string): Promise<By> {
  const org = await findOrg(ground.db, orgId)
  if (!org) throw new Refusal(`There is no organisation ${orgId}. See "org list".`)
  return { ground, actor, org: { key: org.key, id: org.id }, may: () => true }
}

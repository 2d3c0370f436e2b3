// `roomkeeper audit`: checks the chain of the audit log and prints its heads.
import type { Services } from '../server/context/services.ts'
import { StartupError } from '../server/core/failure.ts'
import { headText, verifyChain } from '../server/resources/audit/chain.ts'
import { findHead } from '../server/resources/audit/store.ts'
import { findOrg, listOrgs } from '../server/resources/orgs/store.ts'
import { type PlaceAndFormat, withExisting } from './ground.ts'
import { print, type Terminal } from './terminal.ts'

interface AuditOptions extends PlaceAndFormat {
  readonly org?: string
  readonly expect?: readonly string[]
}

export const auditVerify = (terminal: Terminal, options: AuditOptions) =>
  withExisting(options, async (services) => {
    const expected = options.expect ?? []
    for (const head of expected) {
      if (!/^\w+:\d+:[0-9a-f]{64}$/.test(head)) throw new StartupError(`"${head}" is not what "audit head" prints.`)
    }
    const orgs = await chosen(services, options.org)
    const all = await listOrgs(services.db.system)
    const strangers = expected.filter((head) => !all.some((org) => head.startsWith(`${org.id}:`)))
    const verdicts = []
    for (const org of orgs)
      verdicts.push(await verifyChain(services.db.forOrg(org.key), services.secrets, org, expected))
    const sound = strangers.length === 0 && verdicts.every((v) => v.problem === undefined)
    print(terminal, options.json, { ok: sound, organisations: verdicts, unknownHeads: strangers }, [
      ...verdicts.map((v) =>
        v.problem === undefined
          ? `${v.org}: ${v.entries === 1 ? '1 entry' : `${v.entries} entries`}, all in place.`
          : `${v.org}: BROKEN after ${v.entries} good entries: ${v.problem}.`,
      ),
      ...strangers.map((head) => `${head}: there is no such organisation here.`),
    ])
    if (!sound) throw new StartupError('The audit log is not what it was.')
  })

export const auditHead = (terminal: Terminal, options: AuditOptions) =>
  withExisting(options, async (services) => {
    const heads = []
    for (const org of await chosen(services, options.org)) {
      const head = await findHead(services.db.forOrg(org.key))
      if (head) heads.push(headText(org.id, head.count, head.mac))
    }
    print(terminal, options.json, { heads }, heads)
  })

async function chosen(services: Services, id: string | undefined) {
  if (id === undefined) return listOrgs(services.db.system)
  const org = await findOrg(services.db.system, { id })
  if (!org) throw new StartupError(`There is no organisation ${id}. See "org list".`)
  return [org]
}

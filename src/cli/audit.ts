// `roomkeeper audit`: verifies the audit log and prints its heads.
import type { Services } from '../server/context/services.ts'
import { StartupError } from '../server/core/failure.ts'
import { headText, verifyChain } from '../server/journal/audit/chain.ts'
import { findHead } from '../server/journal/audit/store.ts'
import { findOrg, listOrgs } from '../server/journal/orgs/store.ts'
import { type DatabaseCommandOptions, withExistingDatabase } from './database-command.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

interface AuditOptions extends DatabaseCommandOptions {
  readonly org?: string
  readonly expect?: readonly string[]
}

export const auditVerify = (terminal: Terminal, options: AuditOptions) =>
  withExistingDatabase(options, async (services) => {
    const expected = options.expect ?? []
    for (const head of expected) {
      if (!/^\w+:\d+:[0-9a-f]{64}$/.test(head))
        throw new StartupError(`"${head}" is not a head of an audit log. Use a line that "audit head" printed.`)
    }
    const orgs = await selectedOrgs(services, options.org)
    const all = await listOrgs(services.db.system)
    const unknownHeads = expected.filter((head) => !all.some((org) => head.startsWith(`${org.id}:`)))
    const verdicts = []
    for (const org of orgs)
      verdicts.push(await verifyChain(services.db.forOrg(org.key), services.secrets, org, expected))
    const isVerified = unknownHeads.length === 0 && verdicts.every((v) => v.problem === undefined)
    printResult(terminal, options.json, { ok: isVerified, organisations: verdicts, unknownHeads }, [
      ...verdicts.map((v) =>
        v.problem === undefined
          ? `${v.org}: ${v.entries === 1 ? '1 entry' : `${v.entries} entries`}, verified.`
          : `${v.org}: BROKEN after ${v.entries} valid entries: ${v.problem}.`,
      ),
      ...unknownHeads.map((head) => `${head}: no such organisation.`),
    ])
    if (!isVerified) throw new StartupError('Audit log verification failed.')
  })

export const auditHead = (terminal: Terminal, options: AuditOptions) =>
  withExistingDatabase(options, async (services) => {
    const heads = []
    for (const org of await selectedOrgs(services, options.org)) {
      const head = await findHead(services.db.forOrg(org.key))
      if (head) heads.push(headText(org.id, head.count, head.mac))
    }
    printResult(terminal, options.json, { heads }, heads)
  })

async function selectedOrgs(services: Services, id: string | undefined) {
  if (id === undefined) return listOrgs(services.db.system)
  const org = await findOrg(services.db.system, { id })
  if (!org) throw new StartupError(`There is no organisation ${id}. See "org list".`)
  return [org]
}

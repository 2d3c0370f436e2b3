// `roomkeeper keys`: creates, lists and revokes API keys.
import { dayMs, hourMs, minuteMs } from '../contract/durations.ts'
import type { CallerScope } from '../contract/people/permissions.ts'
import { parseTime } from '../contract/time.ts'
import { isoTime } from '../server/core/clock.ts'
import { StartupError } from '../server/core/failure.ts'
import { nameProblem } from '../server/core/text.ts'
import { commandLineActor } from '../server/journal/orgs/rules.ts'
import { keysCreate, keysDelete, keysList } from '../server/people/keys/rules.ts'
import { cliActor, type DatabaseCommandOptions, withExistingDatabase } from './database-command.ts'
import { parseRegionId } from './region-option.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

interface OrgCommandOptions extends DatabaseCommandOptions {
  readonly org: string
}

interface CreateOptions extends OrgCommandOptions {
  readonly name: string
  readonly scope: CallerScope[]
  readonly manage?: boolean
  readonly region?: string[]
  readonly expires?: string
  readonly rateLimit?: string
}

export const keysCreateCommand = (terminal: Terminal, options: CreateOptions) =>
  withExistingDatabase(options, async (services) => {
    const problem = nameProblem(options.name)
    if (problem) throw new StartupError(`--name ${problem}.`)
    const ctx = await commandLineActor(services, cliActor(terminal), options.org)
    const { body } = await keysCreate(ctx, {
      name: options.name.trim(),
      scopes: [...new Set(options.scope)],
      manage: options.manage ?? false,
      regionIds: options.region?.map(parseRegionId),
      expiresAt: options.expires === undefined ? null : expiry(options.expires, services.clock.now()),
      rateLimit: options.rateLimit === undefined ? undefined : rateLimit(options.rateLimit),
    })
    printResult(terminal, options.json, body, [
      `Created API key ${body.id}. Copy it now, it is not shown again:`,
      body.key,
    ])
  })

export const keysListCommand = (terminal: Terminal, options: OrgCommandOptions) =>
  withExistingDatabase(options, async (services) => {
    const answer = await keysList(await commandLineActor(services, cliActor(terminal), options.org))
    printResult(
      terminal,
      options.json,
      answer,
      answer.keys.map((k) => {
        const permissions = [...k.scopes, ...(k.manage ? ['manage'] : [])].join(' ')
        return `${k.id}  ${k.prefix}…  ${permissions}${limitsOf(k)}  expires ${k.expiresAt ?? 'never'}  last used ${k.lastUsedAt ?? 'never'}  ${k.name}`
      }),
    )
  })

export const keysRevokeCommand = (terminal: Terminal, id: string, options: OrgCommandOptions) =>
  withExistingDatabase(options, async (services) => {
    await keysDelete(await commandLineActor(services, cliActor(terminal), options.org), id)
    printResult(terminal, options.json, {}, [`Revoked API key ${id}.`])
  })

/** A personal key has the regions of its user. */
const limitsOf = ({ regionIds, userId }: { regionIds?: readonly number[]; userId?: string }): string =>
  `${regionIds ? `  regions ${regionIds.join(' ') || 'none'}` : ''}${userId === undefined ? '' : `  user ${userId}`}`

const unitMs: Record<string, number> = { m: minuteMs, h: hourMs, d: dayMs }

function expiry(text: string, now: number): string {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  const at = count && unit ? now + Number(count) * (unitMs[unit] ?? 0) : parseTime(text)
  if (at === undefined || at <= now) {
    throw new StartupError(
      '--expires must be a date in the future such as 2027-01-31, or a duration such as 90d or 12h.',
    )
  }
  return isoTime(at)
}

function rateLimit(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new StartupError('--rate-limit must be a whole number of requests per second; 0 means no limit.')
}

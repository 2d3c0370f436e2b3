// `roomkeeper org`: creates and lists organisations, and sets their time zones.
import { isoTime } from '../server/core/clock.ts'
import { commandLineActor, orgCreate, orgTimezone } from '../server/journal/orgs/rules.ts'
import { listOrgs } from '../server/journal/orgs/store.ts'
import { cliActor, type DatabaseCommandOptions, withDatabase, withExistingDatabase } from './database-command.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

interface CreateOptions extends DatabaseCommandOptions {
  readonly timezone: string
}

export const orgCreateCommand = (terminal: Terminal, name: string, options: CreateOptions) =>
  withDatabase(options, async (services) => {
    const { id } = await orgCreate(services, cliActor(terminal), name, options.timezone)
    printResult(terminal, options.json, { id, name: name.trim(), timezone: options.timezone }, [
      `Created organisation ${id}.`,
      `Next, create an API key: keys create --org ${id} --name "First key" --scope read --scope write --manage`,
    ])
  })

export const orgTimezoneCommand = (terminal: Terminal, id: string, timezone: string, options: DatabaseCommandOptions) =>
  withExistingDatabase(options, async (services) => {
    await orgTimezone(await commandLineActor(services, cliActor(terminal), id), timezone)
    printResult(terminal, options.json, { id, timezone }, [
      `The time zone of organisation ${id} is now ${timezone}.`,
      'The server recalculates the daily sensor history as far back as it has 15-minute history. Older days stay as they are.',
    ])
  })

export const orgListCommand = (terminal: Terminal, options: DatabaseCommandOptions) =>
  withExistingDatabase(options, async ({ db }) => {
    const orgs = (await listOrgs(db.system)).map(({ id, name, timezone, created_at }) => ({
      id,
      name,
      timezone,
      createdAt: isoTime(created_at),
    }))
    printResult(
      terminal,
      options.json,
      { orgs },
      orgs.length === 0
        ? ['There are no organisations yet. Create one with "org create".']
        : orgs.map((o) => `${o.id}  ${o.createdAt}  ${o.timezone}  ${o.name}`),
    )
  })

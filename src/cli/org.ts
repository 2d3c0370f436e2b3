// `roomkeeper org`: creates and lists organisations, and sets their time zones.
import { isoTime } from '../server/core/clock.ts'
import { commandLineActor, orgCreate, orgTimezone } from '../server/resources/orgs/rules.ts'
import { listOrgs } from '../server/resources/orgs/store.ts'
import { cliActor, type PlaceAndFormat, withExisting, withGround } from './ground.ts'
import { print, type Terminal } from './terminal.ts'

interface CreateOptions extends PlaceAndFormat {
  readonly timezone: string
}

export const orgCreateCommand = (terminal: Terminal, name: string, options: CreateOptions) =>
  withGround(options, async (services) => {
    const { id } = await orgCreate(services, cliActor(terminal), name, options.timezone)
    print(terminal, options.json, { id, name: name.trim(), timezone: options.timezone }, [
      `Organisation ${id} created.`,
      `Now give it a key, with: keys create --org ${id} --name "First key" --scope read --scope write --manage`,
    ])
  })

export const orgTimezoneCommand = (terminal: Terminal, id: string, timezone: string, options: PlaceAndFormat) =>
  withExisting(options, async (services) => {
    await orgTimezone(await commandLineActor(services, cliActor(terminal), id), timezone)
    print(terminal, options.json, { id, timezone }, [
      `The days of organisation ${id} are now those of ${timezone}.`,
      'The server makes the daily sensor history anew as far back as there is 15-minute history; older days stay as they are.',
    ])
  })

export const orgListCommand = (terminal: Terminal, options: PlaceAndFormat) =>
  withExisting(options, async ({ db }) => {
    const orgs = (await listOrgs(db.system)).map(({ id, name, timezone, created_at }) => ({
      id,
      name,
      timezone,
      createdAt: isoTime(created_at),
    }))
    print(
      terminal,
      options.json,
      { orgs },
      orgs.length === 0 ? ['There is none yet.'] : orgs.map((o) => `${o.id}  ${o.createdAt}  ${o.timezone}  ${o.name}`),
    )
  })

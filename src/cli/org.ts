// `roomkeeper org`: creates and lists organisations.
import { isoTime } from '../platform/clock.ts'
import { orgCreate } from '../resources/orgs/rules.ts'
import { listOrgs } from '../resources/orgs/store.ts'
import { cliActor, type PlaceAndFormat, withExisting, withGround } from './ground.ts'
import { print, type Terminal } from './terminal.ts'

export const orgCreateCommand = (terminal: Terminal, name: string, options: PlaceAndFormat) =>
  withGround(options, async (ground) => {
    const { id } = await orgCreate(ground, cliActor(terminal), name)
    print(terminal, options.json, { id, name: name.trim() }, [
      `Organisation ${id} created.`,
      `Now give it a key, with: keys create --org ${id} --name "First key" --scope read --scope write --manage`,
    ])
  })

export const orgListCommand = (terminal: Terminal, options: PlaceAndFormat) =>
  withExisting(options, async ({ db }) => {
    const orgs = (await listOrgs(db)).map(({ id, name, created_at }) => ({ id, name, createdAt: isoTime(created_at) }))
    print(
      terminal,
      options.json,
      { orgs },
      orgs.length === 0 ? ['There is none yet.'] : orgs.map((o) => `${o.id}  ${o.createdAt}  ${o.name}`),
    )
  })

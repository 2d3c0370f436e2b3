// `roomkeeper demo`: a server with a fleet and a week of history in one command, for a first look.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeClient } from '../client/client.ts'
import { type Service, startService } from '../server/app.ts'
import type { ServeOptions } from '../server/config/options.ts'
import { StartupError } from '../server/core/failure.ts'
import { makeLog } from '../server/core/log.ts'
import { keysCreate } from '../server/resources/keys/rules.ts'
import { commandLineActor } from '../server/resources/orgs/rules.ts'
import { listOrgs } from '../server/resources/orgs/store.ts'
import { cliActor } from './ground.ts'
import { makeLoginLink } from './login-link.ts'
import { runFleet } from './simulate.ts'
import type { Terminal } from './terminal.ts'

const size = { endpoints: 60, rooms: 24, locations: 6, regions: 3 }
const day = 86_400_000

export async function demo(terminal: Terminal, options: ServeOptions): Promise<void> {
  const stop = new AbortController()
  void terminal.untilStopped().then(() => stop.abort())
  const service = await startService(options, makeLog(options.logLevel), {
    onLost: () => {
      terminal.complain('The lock on the database was lost, so another server could start. Stopping.')
      terminal.fail()
    },
  })
  try {
    const { org, key } = await accessTo(service, terminal, options.dataDir)
    const link = await makeLoginLink(service.ground, cliActor(terminal), org, service.publicUrl)
    terminal.say(`
Roomkeeper is ready at ${service.publicUrl}

  Organisation  ${org}
  Key           ${key}

Try it:

  curl -H 'Authorization: Bearer ${key}' ${service.publicUrl}/v1/orgs/${org}/endpoints

Every operation is described at ${service.publicUrl}/docs
Open the console: ${link.url}  (15 minutes, once)
`)
    const backfill = Math.min(7, options.sampleRetention) * day
    const habits = { seed: 1, speed: 1, interval: 30, flap: 0.03, rejectConfig: 0.03, backfill }
    const state = join(options.dataDir, 'simulator.json')
    const client = makeClient({ baseUrl: service.url, org, token: key })
    const { setScene } = await import('../simulator/scene.ts')
    await runFleet(terminal, { ...size, ...habits, url: service.url, org, key, state }, stop.signal, () =>
      setScene(client, service.url),
    )
  } finally {
    await service.close()
  }
}

interface Access {
  readonly org: string
  readonly key: string
}

/** The key of the first start is kept, so that every start can show it; if it is lost, a new one is made. */
async function accessTo({ first, ground: services }: Service, terminal: Terminal, folder: string): Promise<Access> {
  const file = join(folder, 'demo.json')
  const kept = first ?? read(file)
  const orgs = await listOrgs(services.db.system)
  if (kept && orgs.some(({ id }) => id === kept.org)) {
    if (first) keep(file, first)
    return kept
  }
  const [org] = orgs
  if (!org) throw new StartupError(`There is no organisation in ${folder}. Delete the folder to start afresh.`)
  const ctx = await commandLineActor(services, cliActor(terminal), org.id)
  const { body } = await keysCreate(ctx, { name: 'Demo', scopes: ['read', 'write'], manage: true })
  const access = { org: org.id, key: body.key }
  keep(file, access)
  return access
}

function read(file: string): Access | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

const keep = (file: string, { org, key }: Access): void =>
  writeFileSync(file, `${JSON.stringify({ org, key })}\n`, { mode: 0o600 })

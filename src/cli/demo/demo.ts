// `roomkeeper demo`: runs a server with a simulated fleet, which has lived through a week already.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeClient } from '../../client/client.ts'
import { dayMs } from '../../contract/durations.ts'
import { type Service, startService } from '../../server/app.ts'
import type { ServeOptions } from '../../server/config/server-options.ts'
import { StartupError } from '../../server/core/failure.ts'
import { type Log, makeLog } from '../../server/core/log.ts'
import { commandLineActor } from '../../server/journal/orgs/rules.ts'
import { listOrgs } from '../../server/journal/orgs/store.ts'
import { keysCreate } from '../../server/people/keys/rules.ts'
import { cliActor } from '../database-command.ts'
import { startGatewayBeside } from '../gateway-beside.ts'
import { makeLoginLink } from '../login-link.ts'
import { runFleet } from '../simulate.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { DemoReceiver, receiverHost } from './receiver.ts'

const seed = 1
const size = { endpoints: 60, rooms: 24, locations: 6, regions: 3, otherMakers: true }

export async function demo(terminal: Terminal, options: ServeOptions): Promise<void> {
  const stop = new AbortController()
  void terminal.untilStopped().then(() => stop.abort())
  const log = makeLog(options.logLevel)
  const onLost = () => {
    terminal.writeError('Another program has taken the database, or the name of this node. Stopping.')
    terminal.exitWithFailure()
  }
  const stateFile = join(options.dataDir, 'simulator.json')
  await makePast(options, log, onLost, stateFile)
  const outboundAllow = [...(options.outboundAllow ?? []), receiverHost]
  const service = await startService({ ...options, outboundAllow }, log, { onLost })
  try {
    const { org, key } = await accessTo(service, terminal, options.dataDir)
    const link = await makeLoginLink(service.services, cliActor(terminal), org, service.publicUrl)
    terminal.write(`
Roomkeeper is ready at ${service.publicUrl}

  Organisation  ${org}
  Key           ${key}

Try it:

  curl -H 'Authorization: Bearer ${key}' ${service.publicUrl}/v1/orgs/${org}/endpoints

API reference: ${service.publicUrl}/docs
Open the console: ${link.url}  (works once, for 15 minutes)
`)
    const backfillMs = Math.min(7 * dayMs, service.services.settings.sampleRetentionSeconds * 1000)
    const behaviour = { seed, speed: 1, intervalSeconds: 30, flapShare: 0.03, rejectConfig: 0.03, backfillMs }
    const client = makeClient({ baseUrl: service.url, org, token: key })
    const { addDemoContent } = await import('../../simulator/demo-content.ts')
    await using stack = new AsyncDisposableStack()
    const receiver = await DemoReceiver.start(terminal)
    stack.defer(() => receiver.stop())
    await runFleet(
      terminal,
      { ...size, ...behaviour, url: service.url, org, key, stateFile },
      stop.signal,
      async () => {
        await receiver.connect(client)
        await addDemoContent(client)
        const { connectedGateway, DemoHardware, studioRoom } = await import('../../simulator/demo-hardware.ts')
        const hardware = await DemoHardware.start(join(options.dataDir, 'hardware.json'))
        stack.defer(() => hardware.stop())
        const roomId = await studioRoom(client)
        const beside = { ...options, gateway: { org, roomId }, gatewayReach: ['127.0.0.0/8'] }
        const gateway = await startGatewayBeside(terminal, beside, service, log)
        stack.defer(() => gateway?.stop())
        await hardware.addTo(client, await connectedGateway(client, stop.signal), roomId)
        terminal.write('A gateway manages a codec and a projector in the room Studio, through their own protocols.')
      },
    )
  } finally {
    await service.close()
  }
}

/** A new demo lives through its week before it starts. */
async function makePast(options: ServeOptions, log: Log, onLost: () => void, stateFile: string): Promise<void> {
  if (readAccess(accessFile(options.dataDir))) return
  const [{ livePastWeek }, { planFleet }, { FleetState }] = await Promise.all([
    import('./past.ts'),
    import('../../simulator/plan.ts'),
    import('../../simulator/fleet-state.ts'),
  ])
  const past = await livePastWeek(options, log, onLost, (org) => planFleet(size, seed, org))
  if (!past?.key) return
  const state = FleetState.open(stateFile)
  for (const { serial, endpointId, credential } of past.devices) {
    state.content.devices[serial] = { endpointId, credential }
  }
  state.markChanged()
  await state.save()
  storeAccess(accessFile(options.dataDir), { org: past.org, key: past.key })
}

interface Access {
  readonly org: string
  readonly key: string
}

/** The key of the first start is stored in a file, so that every start can print it. If the file is lost, a new key is created. */
async function accessTo({ first, services }: Service, terminal: Terminal, folder: string): Promise<Access> {
  const file = accessFile(folder)
  const made = first?.key === undefined ? undefined : { org: first.org, key: first.key }
  const stored = made ?? readAccess(file)
  const orgs = await listOrgs(services.db.system)
  if (stored && orgs.some(({ id }) => id === stored.org)) {
    if (made) storeAccess(file, made)
    return stored
  }
  const [org] = orgs
  if (!org) throw new StartupError(`There is no organisation in ${folder}. Delete the folder to start again.`)
  const ctx = await commandLineActor(services, cliActor(terminal), org.id)
  const { body } = await keysCreate(ctx, { name: 'Demo', scopes: ['read', 'write'], manage: true })
  const access = { org: org.id, key: body.key }
  storeAccess(file, access)
  return access
}

const accessFile = (folder: string): string => join(folder, 'demo.json')

function readAccess(file: string): Access | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

const storeAccess = (file: string, { org, key }: Access): void =>
  writeFileSync(file, `${JSON.stringify({ org, key })}\n`, { mode: 0o600 })

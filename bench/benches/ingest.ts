// A QoS 1 sample from socket to commit to PUBACK, beside a bare broker that says yes to everything and stores nothing.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Bench } from '../bench.ts'
import { Load, type Times } from '../load/mqtt-load.ts'
import { costLine, type Round, type Side, senderLine, takeTurns } from '../measure/comparison.ts'
import { figure } from '../measure/figures.ts'
import { bareName, startBare, startMosquitto } from '../servers/brokers.ts'
import { enrolDevices, startServer } from '../servers/roomkeeper.ts'
import type { Child } from '../servers/subprocess.ts'

const fleet = 500

/** As far apart as a device's samples usually are, in seconds. */
const apart = 30
/**
 * From twenty days ago on, one after the other: the clock of the machine could not be hurried. Their quarters are over, so
 * rollups follow soon; they are counted for themselves.
 */
const catchingUp = (): Times => {
  const start = Math.floor(Date.now() / 1000) - 20 * 86_400
  return (n) => start + apart * n
}
/** For a quick run, which does not wait for rollups: a second apart, in quarters that are hardly over. */
const upToNow = (): Times => {
  const start = Math.floor(Date.now() / 1000) - 300
  return (n) => start + n
}

export const ingest: Bench = async ({ quick, profiles, ending }) => {
  const rounds = quick ? 2 : 7
  /** Both sides take turns within a round too: what else the machine does weighs on both. */
  const slices = 4
  const each = quick ? 10 : 20
  const warmUp = quick ? 20 : 60

  const dataDir = ending.folder()
  const server = await startServer(dataDir, profiles.flags('ours'))
  ending.add(() => server.child.stop())
  const devices = await enrolDevices(server, fleet)
  const bare = await startBare(ending, profiles.flags(bareName))
  const mosquitto = await startMosquitto(ending)
  const times = quick ? upToNow() : catchingUp()
  const sideOf = async (name: string, child: Child, port: number): Promise<Side> => {
    const load = await Load.connect(port, devices, times)
    ending.add(() => load.close())
    await load.send(warmUp)
    return { name, child, send: (count) => load.send(count / fleet) }
  }
  const sides = [
    await sideOf('ours', server.child, server.mqttPort),
    await sideOf(bareName, bare.child, bare.port),
    ...(mosquitto ? [await sideOf(mosquitto.name, mosquitto.child, mosquitto.port)] : []),
  ]

  const rollups: number[] = []
  const done: Round[][] = sides.map(() => [])
  const count = slices * each * fleet
  if (!quick) await untilRolledUp(dataDir)
  for (let round = 0; round < rounds; round++) {
    const before = server.child.cpu()
    const one = await takeTurns(sides, { rounds: 1, slices, count, profiles })
    for (const [i, rounds] of done.entries()) rounds.push(...(one[i] ?? []))
    if (quick) continue
    await untilRolledUp(dataDir)
    rollups.push(((server.child.cpu() - before) * 1e6) / count - (one[0]?.[0]?.cpu ?? 0))
  }
  for (const { child } of sides) await child.stop()
  expectStored(dataDir, (warmUp + rounds * slices * each) * fleet)
  const what = `a durable QoS 1 sample, ${fleet} devices`
  return [
    costLine(what, sides, done, 1.6),
    ...(quick
      ? []
      : [{ what: `rollups afterwards, for one sample, one every ${apart} s`, unit: 'µs CPU', ours: figure(rollups) }]),
    senderLine(what, sides, done),
  ]
}

/** Looks into the database from outside: the job that makes rollups comes every ten seconds, and then a round has peace. */
async function untilRolledUp(dataDir: string): Promise<void> {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const due = db.prepare('SELECT 1 FROM sample_due LIMIT 1')
  const deadline = performance.now() + 60_000
  while (due.get() !== undefined) {
    if (performance.now() > deadline) throw new Error('rollups are not made')
    await pause(100)
  }
  db.close()
}

/** What was acknowledged is there: otherwise the figures are of something else. */
function expectStored(dataDir: string, count: number): void {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const { stored } = db.prepare('select count(*) as stored from samples').get() as { stored: number }
  db.close()
  if (stored !== count) throw new Error(`${count} samples were acknowledged, ${stored} are stored`)
}

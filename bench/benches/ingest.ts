// Measures a QoS 1 sample from socket to commit to PUBACK; the baseline is a bare broker that accepts everything and stores nothing.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { MqttLoad, type SampleTimes } from '../load/mqtt-load.ts'
import { type Contender, cpuRow, generatorRow, measureInTurns, type Round } from '../measure/comparison.ts'
import { summarise } from '../measure/figures.ts'
import type { Bench } from '../options.ts'
import { bareBrokerName, startBareBroker, startMosquitto } from '../servers/brokers.ts'
import { enrolDevices, startServer } from '../servers/roomkeeper.ts'
import type { Subprocess } from '../servers/subprocess.ts'

const deviceCount = 500

/** The usual interval of a device. */
const sampleIntervalSeconds = 30
const rollupTimeoutMs = 60_000
const rollupPollMs = 100
/**
 * Samples begin twenty days ago, because a run is too short for samples at the usual interval in real time. Their slots
 * are over, so rollups follow soon; their cost is a row of its own.
 */
const pastTimes = (): SampleTimes => {
  const start = Math.floor(Date.now() / 1000) - 20 * 86_400
  return (n) => start + sampleIntervalSeconds * n
}
/** A quick run does not wait for rollups, so its samples are a second apart and mostly in slots that are not over. */
const recentTimes = (): SampleTimes => {
  const start = Math.floor(Date.now() / 1000) - 300
  return (n) => start + n
}

export const ingest: Bench = async ({ quick, profiles, cleanup }) => {
  const rounds = quick ? 2 : 7
  const slices = 4
  const samplesPerDevice = quick ? 10 : 20
  const warmUp = quick ? 20 : 60

  const dataDir = cleanup.tempFolder()
  const server = await startServer(dataDir, profiles.nodeFlags('ours'))
  cleanup.add(() => server.process.stop())
  const devices = await enrolDevices(server, deviceCount)
  const bare = await startBareBroker(cleanup, profiles.nodeFlags(bareBrokerName))
  const mosquitto = await startMosquitto(cleanup)
  const times = quick ? recentTimes() : pastTimes()
  const makeContender = async (name: string, subprocess: Subprocess, port: number): Promise<Contender> => {
    const load = await MqttLoad.connect(port, devices, times)
    cleanup.add(() => load.close())
    await load.send(warmUp)
    return { name, process: subprocess, send: (count) => load.send(count / deviceCount) }
  }
  const contenders = [
    await makeContender('ours', server.process, server.mqttPort),
    await makeContender(bareBrokerName, bare.process, bare.port),
    ...(mosquitto ? [await makeContender(mosquitto.name, mosquitto.process, mosquitto.port)] : []),
  ]

  const rollupMicros: number[] = []
  const results: Round[][] = contenders.map(() => [])
  const count = slices * samplesPerDevice * deviceCount
  if (!quick) await waitForRollups(dataDir)
  for (let round = 0; round < rounds; round++) {
    const secondsBefore = server.process.cpuSeconds()
    const measured = await measureInTurns(contenders, { rounds: 1, slices, count, profiles })
    for (const [i, rounds] of results.entries()) rounds.push(...(measured[i] ?? []))
    if (quick) continue
    await waitForRollups(dataDir)
    const totalMicros = ((server.process.cpuSeconds() - secondsBefore) * 1e6) / count
    rollupMicros.push(totalMicros - (measured[0]?.[0]?.cpuMicros ?? 0))
  }
  for (const contender of contenders) await contender.process.stop()
  expectSamples(dataDir, (warmUp + rounds * slices * samplesPerDevice) * deviceCount)
  const title = `durable QoS 1 sample, ${deviceCount} devices`
  const rollupRow = {
    title: `rollups per sample, one sample every ${sampleIntervalSeconds} s`,
    unit: 'µs CPU',
    ours: summarise(rollupMicros),
  }
  return [
    cpuRow(title, contenders, results, 1.6),
    ...(quick ? [] : [rollupRow]),
    generatorRow(title, contenders, results),
  ]
}

/** Polls the database until no rollup is due. The scheduled task runs every ten seconds, so the next round is undisturbed. */
async function waitForRollups(dataDir: string): Promise<void> {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const due = db.prepare('SELECT 1 FROM sample_due LIMIT 1')
  const deadline = performance.now() + rollupTimeoutMs
  while (due.get() !== undefined) {
    if (performance.now() > deadline) throw new Error('The server did not make its rollups in time.')
    await sleep(rollupPollMs)
  }
  db.close()
}

/** Every acknowledged sample must be in the database. */
function expectSamples(dataDir: string, count: number): void {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const { stored } = db.prepare('select count(*) as stored from samples').get() as { stored: number }
  db.close()
  if (stored !== count) throw new Error(`${count} samples were acknowledged, but ${stored} are stored.`)
}

// Measures a sample at a fixed rate on PostgreSQL, far below what the server can do; the baseline commits each sample immediately.
import { fileURLToPath } from 'node:url'
import { MqttLoad } from '../load/mqtt-load.ts'
import { type Contender, measureInTurns } from '../measure/comparison.ts'
import { watchPostgres } from '../measure/postgres-watch.ts'
import type { Bench } from '../options.ts'
import type { MeasuredProcess } from '../servers/measured-process.ts'
import { copyPostgresDatabase, fillDatabase, MeasuredNodeGroup } from '../servers/node-group.ts'
import { PostgresCluster } from '../servers/postgres-cluster.ts'
import { Subprocess } from '../servers/subprocess.ts'

const samplesPerSecond = 500
/** Each device sends a sample every four seconds, so that a slow commit does not delay the next sample of a device. */
const deviceCount = 2_000
const slotSeconds = 900
const goals = { server: 0.5, postgres: 0.35 }
const baselineName = 'one commit at once'
const baselineProgram = fileURLToPath(new URL('../bare/immediate-samples.ts', import.meta.url))

export const rates: Bench = async (options) => {
  const { quick, profiles, cleanup } = options
  let cluster: PostgresCluster
  try {
    cluster = await PostgresCluster.start(cleanup)
  } catch (error) {
    process.stdout.write(`The bench rates is left out: ${(error as Error).message}\n`)
    return []
  }
  const filled = await fillDatabase(options, cluster, 'gathered', deviceCount)
  const copy = await copyPostgresDatabase(cluster, filled, 'immediate')
  const group = await MeasuredNodeGroup.start(options, filled, 1)
  const baseline = new Subprocess('The baseline', [
    ...profiles.nodeFlags(baselineName),
    baselineProgram,
    cleanup.tempFolder(),
    copy.url,
    copy.secretKeyFile,
  ])
  cleanup.add(() => baseline.stop())
  const [, baselinePort] = await baseline.waitForOutput(/listening on (\d+)/)

  // Samples are a second apart, in a slot that is not over, so no rollup is made during the measurement.
  const now = Math.floor(Date.now() / 1000)
  const start = Math.max(now - (now % slotSeconds), now - 300)
  const makeContender = async (name: string, server: MeasuredProcess, port: number): Promise<Contender> => {
    const load = await MqttLoad.connect(port, filled.organisation.devices, (n) => start + n)
    cleanup.add(() => load.close())
    await load.send(2)
    return { name, process: server, send: (count) => load.sendAtRate(samplesPerSecond, count) }
  }
  const watched = watchPostgres(cluster, [
    await makeContender('ours', group, group.servers[0]?.mqttPort ?? 0),
    await makeContender(baselineName, baseline, Number(baselinePort)),
  ])
  const slices = 2
  const plan = { rounds: quick ? 2 : 5, slices, count: slices * samplesPerSecond * (quick ? 2 : 5), profiles }
  const results = await measureInTurns(watched.contenders, plan)
  return watched.rows(`durable QoS 1 sample at ${samplesPerSecond} a second`, results, goals)
}

// Measures answers of megabytes, requested one at a time, and JSON.stringify of the same answer as their baseline.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../cleanup.ts'
import { Subprocess } from '../servers/subprocess.ts'
import { type Round, summariseRound, wallClockOf } from './comparison.ts'
import { atMost, type Row, ratioByRound, summarise } from './figures.ts'

/** Calls `before` ahead of each request; its cost is not counted. */
export async function measureOneByOne(
  server: Subprocess,
  count: number,
  request: () => Promise<{ readonly ms: number }>,
  before: () => Promise<unknown> = async () => {},
): Promise<Round> {
  const latenciesMs = new Float64Array(count)
  let [serverCpuSeconds, generatorCpuSeconds] = [0, 0]
  for (let i = 0; i < count; i++) {
    await before()
    const [serverBefore, generatorBefore] = [server.cpuSeconds(), process.cpuUsage()]
    latenciesMs[i] = (await request()).ms
    const { user, system } = process.cpuUsage(generatorBefore)
    serverCpuSeconds += server.cpuSeconds() - serverBefore
    generatorCpuSeconds += (user + system) / 1e6
  }
  const seconds = latenciesMs.reduce((sum, ms) => sum + ms, 0) / 1000
  return summariseRound([{ latenciesMs, seconds, serverCpuSeconds, generatorCpuSeconds }])
}

export class StringifyBaseline {
  readonly #file: string
  /** CPU milliseconds of one answer in each round: as a string, and as bytes. */
  readonly #stringMs: number[] = []
  readonly #bytesMs: number[] = []

  constructor(cleanup: Cleanup, answer: Buffer) {
    this.#file = join(cleanup.tempFolder(), 'answer.json')
    writeFileSync(this.#file, answer)
  }

  /** Measures one more round. */
  async measure(count: number): Promise<void> {
    const program = fileURLToPath(new URL('../bare/stringify.ts', import.meta.url))
    const output = await new Subprocess('stringify', [program, this.#file, `${count}`]).waitForExit()
    const { stringMs, bytesMs } = JSON.parse(output)
    this.#stringMs.push(stringMs)
    this.#bytesMs.push(bytesMs)
  }

  row(title: string, rounds: readonly Round[], maxRatio?: number): Row {
    return makeRow(title, rounds, { name: 'JSON.stringify', valuesMs: this.#stringMs }, maxRatio)
  }

  bytesRow(title: string, rounds: readonly Round[]): Row {
    return makeRow(title, rounds, { name: 'JSON.stringify and Buffer.from', valuesMs: this.#bytesMs })
  }
}

interface Baseline {
  readonly name: string
  readonly valuesMs: readonly number[]
}

function makeRow(title: string, rounds: readonly Round[], { name, valuesMs }: Baseline, maxRatio?: number): Row {
  const oursMs = rounds.map(({ cpuMicros }) => cpuMicros / 1000)
  const ratio = ratioByRound(oursMs, valuesMs)
  return {
    title,
    unit: 'ms CPU',
    ours: summarise(oursMs),
    baseline: { name, figure: summarise(valuesMs) },
    ratio,
    ...(maxRatio !== undefined && { goal: atMost(ratio, maxRatio) }),
    clock: { ours: wallClockOf(rounds) },
  }
}

// Answers that are long enough to be asked for one at a time, beside JSON.stringify of the same answer.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Ending } from '../cleanup.ts'
import { Child } from '../servers/subprocess.ts'
import { clockOf, type Round, roundOf } from './comparison.ts'
import { atMost, figure, type Line, ratios } from './figures.ts'

/** What happens before each of them is not counted. */
export async function oneByOne(
  child: Child,
  count: number,
  ask: () => Promise<{ readonly ms: number }>,
  before: () => Promise<unknown> = async () => {},
): Promise<Round> {
  const latencies = new Float64Array(count)
  let [server, sender] = [0, 0]
  for (let i = 0; i < count; i++) {
    await before()
    const [cpu, own] = [child.cpu(), process.cpuUsage()]
    latencies[i] = (await ask()).ms
    const { user, system } = process.cpuUsage(own)
    server += child.cpu() - cpu
    sender += (user + system) / 1e6
  }
  return roundOf([{ latencies, seconds: latencies.reduce((sum, ms) => sum + ms, 0) / 1000, server, sender }])
}

export class Stringified {
  readonly #file: string
  /** CPU milliseconds of one answer, a number for each round: as a text, and as bytes. */
  readonly #text: number[] = []
  readonly #bytes: number[] = []

  constructor(ending: Ending, answer: Buffer) {
    this.#file = join(ending.folder(), 'answer.json')
    writeFileSync(this.#file, answer)
  }

  /** One more round. */
  async measure(count: number): Promise<void> {
    const program = fileURLToPath(new URL('../bare/stringify.ts', import.meta.url))
    const { text, bytes } = JSON.parse(await new Child('stringify', [program, this.#file, `${count}`]).output())
    this.#text.push(text)
    this.#bytes.push(bytes)
  }

  line(what: string, rounds: readonly Round[], most?: number): Line {
    return lineOf(what, rounds, { name: 'JSON.stringify', values: this.#text }, most)
  }

  bytesLine(what: string, rounds: readonly Round[]): Line {
    return lineOf(what, rounds, { name: 'JSON.stringify and Buffer.from', values: this.#bytes })
  }
}

interface Limit {
  readonly name: string
  readonly values: readonly number[]
}

function lineOf(what: string, rounds: readonly Round[], { name, values }: Limit, most?: number): Line {
  const ours = rounds.map(({ cpu }) => cpu / 1000)
  const ratio = ratios(ours, values)
  return {
    what,
    unit: 'ms CPU',
    ours: figure(ours),
    limit: { name, figure: figure(values) },
    ratio,
    ...(most !== undefined && { goal: atMost(ratio, most) }),
    clock: { ours: clockOf(rounds) },
  }
}

// What is measured side by side: each side does the same work in turns, and its server is watched from outside.
import type { Child } from '../servers/subprocess.ts'
import type { Profiles } from './cpu-profile.ts'
import { atMost, type Clock, figure, type Line, percentile, ratios } from './figures.ts'

/** What a sender saw: of each operation how long it took, in milliseconds, and of all together. */
export interface Run {
  readonly latencies: Float64Array
  readonly seconds: number
}

export interface Side {
  readonly name: string
  readonly child: Child
  /** So many operations. */
  readonly send: (count: number) => Promise<Run>
  /** Of the operations of a round, where it is too slow for all of them. */
  readonly share?: number
}

/** What one side did in one round. */
export interface Round {
  /** CPU microseconds of the server for one operation, and of who sends. */
  readonly cpu: number
  readonly sender: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

interface Slice extends Run {
  /** CPU seconds of both. */
  readonly server: number
  readonly sender: number
}

export interface Plan {
  readonly rounds: number
  /** Operations of each side in a round. */
  readonly count: number
  /** Sides take turns within a round too: what else the machine does weighs on all of them. */
  readonly slices?: number
  readonly profiles: Profiles
}

/** The rounds of each side, in the order of the sides. */
export async function takeTurns(
  sides: readonly Side[],
  { rounds, count, slices = 4, profiles }: Plan,
): Promise<Round[][]> {
  const done: Round[][] = sides.map(() => [])
  for (let round = 0; round < rounds; round++) {
    const taken: Slice[][] = sides.map(() => [])
    for (let slice = 0; slice < slices; slice++) {
      const order = [...sides.keys()]
      for (const i of (round + slice) % 2 === 0 ? order : order.reverse()) {
        const side = sides[i] as Side
        taken[i]?.push(
          await profiles.during(side.name, () => sliceOf(side, Math.ceil((count * (side.share ?? 1)) / slices))),
        )
      }
    }
    for (const [i, some] of taken.entries()) done[i]?.push(roundOf(some))
  }
  return done
}

async function sliceOf({ child, send }: Side, count: number): Promise<Slice> {
  const before = child.cpu()
  const own = process.cpuUsage()
  const run = await send(count)
  const server = child.cpu() - before
  const { user, system } = process.cpuUsage(own)
  return { ...run, server, sender: (user + system) / 1e6 }
}

export function roundOf(slices: readonly Slice[]): Round {
  const sum = (value: (slice: Slice) => number) => slices.reduce((total, slice) => total + value(slice), 0)
  const count = sum(({ latencies }) => latencies.length)
  const latencies = slices.flatMap((slice) => [...slice.latencies])
  return {
    cpu: (sum(({ server }) => server) * 1e6) / count,
    sender: (sum(({ sender }) => sender) * 1e6) / count,
    perSecond: count / sum(({ seconds }) => seconds),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  }
}

export const clockOf = (rounds: readonly Round[]): Clock => ({
  perSecond: figure(rounds.map((r) => r.perSecond)),
  p50: figure(rounds.map((r) => r.p50)),
  p99: figure(rounds.map((r) => r.p99)),
})

/** The line of the main measure. The first side is ours, the second the limit, all others are peers. */
export function costLine(what: string, sides: readonly Side[], rounds: readonly Round[][], most?: number): Line {
  const cpuOf = (i: number) => (rounds[i] ?? []).map((r) => r.cpu)
  const ratio = ratios(cpuOf(0), cpuOf(1))
  return {
    what,
    unit: 'µs CPU',
    ours: figure(cpuOf(0)),
    limit: { name: sides[1]?.name ?? '', figure: figure(cpuOf(1)) },
    ratio,
    ...(most !== undefined && { goal: atMost(ratio, most) }),
    clock: { ours: clockOf(rounds[0] ?? []), limit: clockOf(rounds[1] ?? []) },
    peers: sides.slice(2).map(({ name }, i) => ({
      name,
      figure: figure(cpuOf(i + 2)),
      ratio: ratios(cpuOf(i + 2), cpuOf(1)),
      clock: clockOf(rounds[i + 2] ?? []),
    })),
  }
}

/** What the sender paid: to be seen not to be the bottleneck. */
export const senderLine = (what: string, sides: readonly Side[], rounds: readonly Round[][]): Line => {
  const of = (i: number) => (rounds[i] ?? []).map((r) => r.sender)
  return {
    what: `${what}: who sends`,
    unit: 'µs CPU',
    ours: figure(of(0)),
    limit: { name: sides[1]?.name ?? '', figure: figure(of(1)) },
  }
}

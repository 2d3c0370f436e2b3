// Runs the same work on several servers in turns and measures the CPU time of each server from outside.
import type { LoadResult } from '../load/load-result.ts'
import type { MeasuredProcess } from '../servers/measured-process.ts'
import type { CpuProfiles } from './cpu-profile.ts'
import { atMost, quantile, type Row, ratioByRound, summarise, type WallClock } from './figures.ts'

/** One of the servers that are compared. */
export interface Contender {
  readonly name: string
  readonly process: MeasuredProcess
  /** Sends `count` operations and waits until all of them are done. */
  readonly send: (count: number) => Promise<LoadResult>
  /** The fraction of a round's operations that a slow server does. */
  readonly share?: number
}

/** The result of one contender in one round; CPU times are for one operation. */
export interface Round {
  readonly cpuMicros: number
  readonly generatorCpuMicros: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

interface Slice extends LoadResult {
  readonly serverCpuSeconds: number
  readonly generatorCpuSeconds: number
}

export interface RoundPlan {
  readonly rounds: number
  /** Operations of each contender in a round. */
  readonly count: number
  /** Contenders take turns within a round too, so that other load on the machine affects all of them. */
  readonly slices?: number
  readonly profiles: CpuProfiles
}

/** Returns the rounds of each contender, in the order of the contenders. */
export async function measureInTurns(
  contenders: readonly Contender[],
  { rounds, count, slices = 4, profiles }: RoundPlan,
): Promise<Round[][]> {
  const results: Round[][] = contenders.map(() => [])
  for (let round = 0; round < rounds; round++) {
    const slicesOf: Slice[][] = contenders.map(() => [])
    for (let slice = 0; slice < slices; slice++) {
      const order = [...contenders.keys()]
      for (const i of (round + slice) % 2 === 0 ? order : order.reverse()) {
        const contender = contenders[i] as Contender
        const operations = Math.ceil((count * (contender.share ?? 1)) / slices)
        slicesOf[i]?.push(await profiles.during(contender.name, () => measureSlice(contender, operations)))
      }
    }
    for (const [i, measured] of slicesOf.entries()) results[i]?.push(summariseRound(measured))
  }
  return results
}

async function measureSlice({ process: server, send }: Contender, count: number): Promise<Slice> {
  const serverBefore = server.cpuSeconds()
  const generatorBefore = process.cpuUsage()
  const result = await send(count)
  const serverCpuSeconds = server.cpuSeconds() - serverBefore
  const { user, system } = process.cpuUsage(generatorBefore)
  return { ...result, serverCpuSeconds, generatorCpuSeconds: (user + system) / 1e6 }
}

export function summariseRound(slices: readonly Slice[]): Round {
  const sum = (value: (slice: Slice) => number) => slices.reduce((total, slice) => total + value(slice), 0)
  const count = sum(({ latenciesMs }) => latenciesMs.length)
  const latenciesMs = slices.flatMap((slice) => [...slice.latenciesMs])
  return {
    cpuMicros: (sum(({ serverCpuSeconds }) => serverCpuSeconds) * 1e6) / count,
    generatorCpuMicros: (sum(({ generatorCpuSeconds }) => generatorCpuSeconds) * 1e6) / count,
    perSecond: count / sum(({ seconds }) => seconds),
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  }
}

export const wallClockOf = (rounds: readonly Round[]): WallClock => ({
  perSecond: summarise(rounds.map((r) => r.perSecond)),
  p50Ms: summarise(rounds.map((r) => r.p50Ms)),
  p99Ms: summarise(rounds.map((r) => r.p99Ms)),
})

/** The row of the main measure. The first contender is ours, the second the baseline, all others are peers. */
export function cpuRow(
  title: string,
  contenders: readonly Contender[],
  rounds: readonly Round[][],
  maxRatio?: number,
): Row {
  const cpuOf = (i: number) => (rounds[i] ?? []).map((r) => r.cpuMicros)
  const ratio = ratioByRound(cpuOf(0), cpuOf(1))
  return {
    title,
    unit: 'µs CPU',
    ours: summarise(cpuOf(0)),
    baseline: { name: contenders[1]?.name ?? '', figure: summarise(cpuOf(1)) },
    ratio,
    ...(maxRatio !== undefined && { goal: atMost(ratio, maxRatio) }),
    clock: { ours: wallClockOf(rounds[0] ?? []), baseline: wallClockOf(rounds[1] ?? []) },
    peers: contenders.slice(2).map(({ name }, i) => ({
      name,
      figure: summarise(cpuOf(i + 2)),
      ratio: ratioByRound(cpuOf(i + 2), cpuOf(1)),
      clock: wallClockOf(rounds[i + 2] ?? []),
    })),
  }
}

/** Shows the CPU of the load generator, as evidence that it is not the bottleneck. */
export const generatorRow = (title: string, contenders: readonly Contender[], rounds: readonly Round[][]): Row => {
  const cpuOf = (i: number) => (rounds[i] ?? []).map((r) => r.generatorCpuMicros)
  return {
    title: `${title}: load generator`,
    unit: 'µs CPU',
    ours: summarise(cpuOf(0)),
    baseline: { name: contenders[1]?.name ?? '', figure: summarise(cpuOf(1)) },
  }
}

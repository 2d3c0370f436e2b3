// Reads the profiles of `node --cpu-prof` and lists the functions that took the time, with and without their callees.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame; readonly children?: number[] }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
  /** Microseconds of the monotonic clock, which all processes of a machine share. */
  readonly startTime: number
}

/** A period of measurement, in microseconds of the monotonic clock. */
interface Span {
  readonly fromMicros: number
  readonly toMicros: number
}

const monotonicMicros = (): number => Number(process.hrtime.bigint() / 1000n)

const maxListed = 40
const sampleIntervalMicros = 250

/** CPU profiles of the contenders of a bench. Without a folder nothing is profiled. */
export class CpuProfiles {
  readonly #folder: string | undefined
  readonly #spans = new Map<string, Span[]>()

  constructor(folder: string | undefined) {
    this.#folder = folder
  }

  /** Returns the flags for Node when it starts that contender. */
  nodeFlags(contender: string): string[] {
    if (!this.#folder) return []
    return [
      '--cpu-prof',
      '--cpu-prof-dir',
      join(this.#folder, contender),
      '--cpu-prof-interval',
      `${sampleIntervalMicros}`,
    ]
  }

  /** Limits the profile to the time of this work, so that the start of the process is not counted. */
  async during<T>(contender: string, work: () => Promise<T>): Promise<T> {
    const fromMicros = monotonicMicros()
    const result = await work()
    const span = { fromMicros, toMicros: monotonicMicros() }
    this.#spans.set(contender, [...(this.#spans.get(contender) ?? []), span])
    return result
  }

  /** Node writes a profile when its process ends, so this is called after that. */
  report(): string {
    const folder = this.#folder
    if (!folder) return ''
    // A contender that was not started with these flags has no profile.
    const profiled = [...this.#spans].filter(([name]) => existsSync(join(folder, name)))
    return profiled.map(([name, spans]) => `\n${name}\n${reportOf(join(folder, name), spans)}`).join('\n')
  }
}

function reportOf(folder: string, spans: readonly Span[]): string {
  const [file = ''] = readdirSync(folder)
  const profile: Profile = JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const { nodes, samples, timeDeltas, startTime } = profile
  const times = new Map<number, number>()
  let nowMicros = startTime
  for (const [i, id] of samples.entries()) {
    const delta = timeDeltas[i] ?? 0
    nowMicros += delta
    if (spans.some(({ fromMicros, toMicros }) => nowMicros >= fromMicros && nowMicros < toMicros))
      times.set(id, (times.get(id) ?? 0) + delta)
  }
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const [byFunction, byFile, withCallees] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ]
  const add = (to: Map<string, number>, name: string, time: number) => void to.set(name, (to.get(name) ?? 0) + time)
  let busyMicros = 0
  for (const [id, time] of times) {
    const frame = frames.get(id) as CallFrame
    if (frame.functionName === '(idle)') continue
    busyMicros += time
    add(byFunction, nameOf(frame), time)
    add(byFile, shortened(frame.url) || frame.functionName, time)
    // A recursive function counts once per stack.
    const stack = new Set<string>()
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at))
      stack.add(nameOf(frames.get(at) as CallFrame))
    for (const name of stack) add(withCallees, name, time)
  }
  const list = (title: string, counted: Map<string, number>) => {
    const lines = [...counted].toSorted(([, a], [, b]) => b - a).slice(0, maxListed)
    return [
      `-- ${title}`,
      ...lines.map(([name, time]) => `${((time / busyMicros) * 100).toFixed(1).padStart(6)} %  ${name}`),
    ]
  }
  return [
    `busy for ${(busyMicros / 1e6).toFixed(2)} s`,
    ...list('self time by function', byFunction),
    ...list('self time by file', byFile),
    ...list('time by function, including callees', withCallees),
  ].join('\n')
}

const nameOf = ({ functionName, url, lineNumber }: CallFrame) =>
  `${functionName || '(anonymous)'}${url ? `  ${shortened(url)}:${lineNumber + 1}` : ''}`

const shortened = (url: string) => url.replace(/^.*\/node_modules\//, '').replace(/^file:.*?\/(src|bench)\//, '$1/')

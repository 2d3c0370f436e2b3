// Reads what `node --cpu-prof` wrote and says which functions took the time: themselves, and with what they called.
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

/** From when to when something was measured, in microseconds of the monotonic clock. */
interface Span {
  readonly from: number
  readonly to: number
}

const monotonic = (): number => Number(process.hrtime.bigint() / 1000n)

const top = 40

/** CPU profiles of the sides of a bench. Without a folder nothing is profiled. */
export class Profiles {
  readonly #folder: string | undefined
  readonly #spans = new Map<string, Span[]>()

  constructor(folder: string | undefined) {
    this.#folder = folder
  }

  /** For Node, when it starts that side. */
  flags(side: string): string[] {
    if (!this.#folder) return []
    return ['--cpu-prof', '--cpu-prof-dir', join(this.#folder, side), '--cpu-prof-interval', '250']
  }

  /** Only what happens during such works counts, not the start of a process. */
  async during<T>(side: string, work: () => Promise<T>): Promise<T> {
    const from = monotonic()
    const result = await work()
    this.#spans.set(side, [...(this.#spans.get(side) ?? []), { from, to: monotonic() }])
    return result
  }

  /** To be asked when the process has ended. */
  top(): string {
    const folder = this.#folder
    if (!folder) return ''
    // A side that was not started with our flags has none.
    const profiled = [...this.#spans].filter(([side]) => existsSync(join(folder, side)))
    return profiled.map(([side, spans]) => `\n${side}\n${topOf(join(folder, side), spans)}`).join('\n')
  }
}

function topOf(folder: string, spans: readonly Span[]): string {
  const [file = ''] = readdirSync(folder)
  const profile: Profile = JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const { nodes, samples, timeDeltas, startTime } = profile
  const times = new Map<number, number>()
  let now = startTime
  for (const [i, id] of samples.entries()) {
    const delta = timeDeltas[i] ?? 0
    now += delta
    if (spans.some(({ from, to }) => now >= from && now < to)) times.set(id, (times.get(id) ?? 0) + delta)
  }
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const [byFunction, byFile, withCallees] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ]
  const add = (to: Map<string, number>, name: string, time: number) => void to.set(name, (to.get(name) ?? 0) + time)
  let busy = 0
  for (const [id, time] of times) {
    const frame = frames.get(id) as CallFrame
    if (frame.functionName === '(idle)') continue
    busy += time
    add(byFunction, nameOf(frame), time)
    add(byFile, shortened(frame.url) || frame.functionName, time)
    // A function that calls itself counts once.
    const stack = new Set<string>()
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at))
      stack.add(nameOf(frames.get(at) as CallFrame))
    for (const name of stack) add(withCallees, name, time)
  }
  const list = (title: string, counted: Map<string, number>) => {
    const lines = [...counted].toSorted(([, a], [, b]) => b - a).slice(0, top)
    return [`-- ${title}`, ...lines.map(([name, time]) => `${((time / busy) * 100).toFixed(1).padStart(6)} %  ${name}`)]
  }
  return [
    `busy for ${(busy / 1e6).toFixed(2)} s`,
    ...list('self time by function', byFunction),
    ...list('self time by file', byFile),
    ...list('time by function, with what it called', withCallees),
  ].join('\n')
}

const nameOf = ({ functionName, url, lineNumber }: CallFrame) =>
  `${functionName || '(anonymous)'}${url ? `  ${shortened(url)}:${lineNumber + 1}` : ''}`

const shortened = (url: string) => url.replace(/^.*\/node_modules\//, '').replace(/^file:.*?\/(src|bench)\//, '$1/')

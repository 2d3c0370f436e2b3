// Checks reads against versions in real time: a read sees every write that was acknowledged before it began, and none from the future.
import type { RegisterRead, RegisterWrite } from '../histories.ts'

interface Seen {
  readonly version: number
  readonly endedAt: number
  readonly what: string
}

/** Returns a sentence for each read that no order of the writes explains. */
export function checkStrictReads(writes: readonly RegisterWrite[], reads: readonly RegisterRead[]): string[] {
  const readsOf = Map.groupBy(reads, ({ register }) => register)
  const writesOf = Map.groupBy(writes, ({ register }) => register)
  return [...readsOf.keys(), ...writesOf.keys()]
    .filter((register, i, all) => all.indexOf(register) === i)
    .flatMap((register) => checkRegister(register, writesOf.get(register) ?? [], readsOf.get(register) ?? []))
}

function checkRegister(register: string, writes: readonly RegisterWrite[], reads: readonly RegisterRead[]): string[] {
  const problems: string[] = []
  const writeOf = new Map(writes.map((write) => [write.value, write]))
  const versionOf = new Map<string, number>()
  const valueAt = new Map<number, string>()
  const learn = (value: string, version: number | undefined, what: string) => {
    if (version === undefined) return
    const otherValue = valueAt.get(version)
    if (otherValue !== undefined && otherValue !== value) {
      problems.push(`Version ${version} of ${register} is ${otherValue}, but ${what} has ${value} as that version.`)
    }
    valueAt.set(version, value)
    versionOf.set(value, version)
  }
  for (const write of writes) if (write.outcome === 'done') learn(write.value, write.version, 'a write')
  for (const read of reads) learn(read.value, read.version, `a read at ${read.node}`)
  // A status that was overtaken has the number that its device gave it.
  for (const { value, version } of writes)
    if (version !== undefined && !versionOf.has(value)) versionOf.set(value, version)

  for (const read of reads) {
    const write = writeOf.get(read.value)
    const text = `A read of ${register} at ${read.node} from ${ms(read.invokedAt)} to ${ms(read.endedAt)} gave ${read.value}`
    if (write?.outcome === 'refused') problems.push(`${text}, which was refused.`)
    if (write && write.invokedAt > read.endedAt)
      problems.push(`${text}, which was written only at ${ms(write.invokedAt)}.`)
  }

  /** Everything that proves a version to be there, in the order in which it ended. */
  const seen: Seen[] = [
    ...writes
      .filter(({ outcome, version }) => outcome === 'done' && version !== undefined)
      .map(({ value, version, endedAt }) => ({ version: version as number, endedAt, what: `the write of ${value}` })),
    ...reads.flatMap(({ value, endedAt, node }) => {
      const version = versionOf.get(value)
      return version === undefined ? [] : [{ version, endedAt, what: `a read of ${value} at ${node}` }]
    }),
  ].sort((a, b) => a.endedAt - b.endedAt)
  const newestBefore = makeNewestBefore(seen)

  for (const read of reads) {
    const version = versionOf.get(read.value)
    const before = newestBefore(read.invokedAt)
    if (version === undefined || !before || version >= before.version) continue
    problems.push(
      `A read of ${register} at ${read.node} that began at ${ms(read.invokedAt)} gave ${read.value} (version ${version}), but version ${before.version} was known at ${ms(before.endedAt)} by ${before.what}.`,
    )
  }
  for (const write of writes) {
    if (write.outcome !== 'done' || write.version === undefined) continue
    const before = newestBefore(write.invokedAt)
    if (before && before.version >= write.version) {
      problems.push(
        `The write of ${write.value} to ${register} that began at ${ms(write.invokedAt)} got version ${write.version}, but version ${before.version} was known at ${ms(before.endedAt)} by ${before.what}.`,
      )
    }
  }
  return problems
}

/** Returns the newest version that was known before a time. */
function makeNewestBefore(seen: readonly Seen[]): (time: number) => Seen | undefined {
  const newest: Seen[] = []
  for (const item of seen) {
    const last = newest.at(-1)
    if (!last || item.version > last.version) newest.push(item)
  }
  return (time) => {
    let [low, high] = [0, newest.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((newest[middle] as Seen).endedAt < time) low = middle + 1
      else high = middle
    }
    return newest[low - 1]
  }
}

const ms = (time: number) => `${Math.round(time)} ms`

// A collection of garbage must not make the server slower than it was before.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const settleFile = fileURLToPath(new URL('../../src/platform/settle.ts', import.meta.url))

/** Prints the CPU nanoseconds of a tick, in a process of its own in which the shape of ticks could have been forgotten. */
const program = (meanwhile: string) => `
import { setImmediate } from 'node:timers/promises'
const { settle } = await import(${JSON.stringify(settleFile)})
const ticks = (count) => new Promise((resolve) => {
  const next = () => (--count === 0 ? resolve() : process.nextTick(next))
  process.nextTick(next)
})
const cost = async () => {
  const taken = []
  for (let round = 0; round < 5; round++) {
    const before = process.cpuUsage()
    await ticks(100_000)
    const { user, system } = process.cpuUsage(before)
    taken.push((user + system) / 100)
  }
  return Math.min(...taken)
}
await ticks(1_000)
for (let i = 0; i < 3; i++) {
  await setImmediate()
  ${meanwhile}
}
console.log(await cost())
`

const run = (text: string) =>
  Number(execFileSync(process.execPath, ['--input-type=module', '--eval', text], { encoding: 'utf8' }))

test('what Node queues ticks in stays quick after a collection', () => {
  const settled = run(program('await settle()'))
  const untouched = run(program(''))
  // Without the tick that is kept it was four to thirteen times.
  expect(settled).toBeLessThan(3 * untouched)
})

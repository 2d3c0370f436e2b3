// The baseline of long answers: JSON.stringify of the same objects and nothing else. Arguments: file of the answer, number of calls.
import { readFileSync } from 'node:fs'

const [file = '', calls = '1'] = process.argv.slice(2)
const answer = JSON.parse(readFileSync(file, 'utf8'))

/** Returns the CPU milliseconds of one call, after as many calls to warm up. */
function measureMs(work: () => unknown): number {
  const count = Number(calls)
  for (let i = 0; i < count; i++) work()
  const before = process.cpuUsage()
  for (let i = 0; i < count; i++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / count
}

const stringMs = measureMs(() => JSON.stringify(answer))
const bytesMs = measureMs(() => Buffer.from(JSON.stringify(answer)))
process.stdout.write(JSON.stringify({ stringMs, bytesMs }))

// The limit beside a long answer: nothing but JSON.stringify of the same objects. Arguments: file of the answer, how often.
import { readFileSync } from 'node:fs'

const [file = '', often = '1'] = process.argv.slice(2)
const answer = JSON.parse(readFileSync(file, 'utf8'))

/** CPU milliseconds for each call. */
function measure(work: () => unknown): number {
  const count = Number(often)
  for (let i = 0; i < count; i++) work()
  const before = process.cpuUsage()
  for (let i = 0; i < count; i++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / count
}

const text = measure(() => JSON.stringify(answer))
const bytes = measure(() => Buffer.from(JSON.stringify(answer)))
process.stdout.write(JSON.stringify({ text, bytes }))

// A slow reader of standard error must not block the service.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { until } from '../../../test/support/program.ts'

/** More than a pipe and the waiting lines hold: 40,000 lines with more than 100 characters each. */
const program = `
import { makeLog } from ${JSON.stringify(new URL('log.ts', import.meta.url).href)}
// As main.ts does. Node makes a pipe non-blocking when its stream is made.
process.stderr
const log = makeLog('info')
for (let turn = 0; turn < 400; turn++) {
  for (let line = 0; line < 100; line++) log.info({ filler: 'x'.repeat(50), turn, line }, 'a line')
  await new Promise(setImmediate)
}
process.stdout.write('all are logged')
process.stdin.once('data', () => { log.error('the last line'); process.exit(3) })`

const linesOf = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

test('a reader of the log that is slow never stops the service, and learns how many lines it missed', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  // A log that waits for its reader would not come to its last line.
  await once(child.stdout, 'data')
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    text += piece
  })
  await until('the missed lines are counted', () => text.includes('"lines":') && text.endsWith('\n'))
  child.stdin.write('exit\n')
  const [code] = await once(child, 'close')
  expect(code).toBe(3)
  const lines = linesOf(text)
  const kept = lines.filter(({ filler }) => filler !== undefined)
  const dropped = lines.filter(({ lines }) => lines !== undefined)
  expect(dropped[0]).toMatchObject({ level: 'warn', lines: expect.any(Number) })
  expect(kept.length + dropped.reduce((sum, { lines }) => sum + lines, 0)).toBe(40_000)
  expect(kept.length).toBeGreaterThan(5000)
  // A process that ends still writes its last line.
  expect(lines.at(-1)).toMatchObject({ level: 'error', msg: 'the last line' })
})

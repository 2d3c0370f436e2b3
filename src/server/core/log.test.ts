// Standard error may be a pipe whose reader is slow; the service goes on meanwhile.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

/** More than a pipe and the waiting lines hold: 40,000 lines with more than 100 characters each. */
const program = `
import { makeLog } from ${JSON.stringify(new URL('log.ts', import.meta.url).href)}
const log = makeLog('info')
let longestTurnMs = 0
for (let turn = 0; turn < 400; turn++) {
  const startMs = performance.now()
  for (let line = 0; line < 100; line++) log.info({ filler: 'x'.repeat(50), turn, line }, 'a line')
  longestTurnMs = Math.max(longestTurnMs, performance.now() - startMs)
  await new Promise(setImmediate)
}
process.stdout.write(longestTurnMs + '\\n')
process.stdin.once('data', () => { log.error('the last line'); process.exit(3) })`

test('a reader of the log that is slow never stops the service, and learns how many lines it missed', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  const [printed] = await once(child.stdout, 'data')
  expect(Number(String(printed))).toBeLessThan(50)
  const read = text(child.stderr)
  setTimeout(() => child.stdin.write('exit\n'), 1000)
  const [code] = await once(child, 'exit')
  expect(code).toBe(3)
  const lines = (await read)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const dropped = lines.findLast(({ lines }) => lines !== undefined)
  expect(dropped).toMatchObject({ level: 'warn', lines: expect.any(Number) })
  const kept = lines.filter(({ filler }) => filler !== undefined).length
  expect(kept + dropped.lines).toBe(40_000)
  expect(kept).toBeGreaterThan(5000)
  // A process that ends immediately still writes its last line.
  expect(lines.at(-1)).toMatchObject({ level: 'error', msg: 'the last line' })
})

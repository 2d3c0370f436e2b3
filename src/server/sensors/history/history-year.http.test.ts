// The sensor history of all rooms over a year: it is sent while it is read, in short turns and in little memory.
import { get } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { runCount } from '../../../../test/support/long-form.ts'
import { expectShortTurns, printLongestTurn } from '../../../../test/support/longest-turn.ts'
import { daySeconds, hourSeconds } from '../../../contract/durations.ts'
import { sensorColumns } from '../../db/schema/schema.ts'

const year = 366 * daySeconds
const noon = Date.UTC(2026, 9, 28, 12) / 1000
const roomCount = runCount({ short: 2, full: 20, long: 200 })
let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(noon * 1000)
  org = await harness.newOrg()
  for (let room = 1; room <= roomCount; room++) await addRoom(room)
})
afterAll(() => harness.close())

/** Adds a room with an endpoint that has measured everything in each hour of the year. */
async function addRoom(room: number): Promise<void> {
  await org.call('POST', '/rooms', { body: { name: `Room ${room}` } })
  const { schema } = harness.services.db
  const own = { org: org.org.key, endpoint: room }
  const since = noon - year
  await schema
    .insertInto('endpoint_rooms')
    .values({ ...own, room_id: room, endpoint_id: `endpoint-${room}`, since, until: null })
    .execute()
  const rows = Array.from({ length: year / hourSeconds }, (_, hour) => ({
    ...own,
    room,
    slot: Math.floor(since / hourSeconds) + hour,
    ...Object.fromEntries(
      sensorColumns.flatMap((sensor) => [
        [`${sensor}_count`, 60],
        [`${sensor}_min`, 400 + room],
        [`${sensor}_max`, 900 + (hour % 24)],
        [`${sensor}_sum`, 60 * (500 + (hour % 7))],
      ]),
    ),
  }))
  const rowsPerInsert = 500
  for (let at = 0; at < rows.length; at += rowsPerInsert) {
    await schema
      .insertInto('sample_hours')
      .values(rows.slice(at, at + rowsPerInsert) as never)
      .execute()
  }
}

/** The answer as it arrives. */
async function* download(): AsyncGenerator<string> {
  const window = { from: new Date((noon - year) * 1000).toISOString(), to: new Date(noon * 1000).toISOString() }
  const path = `/v1/orgs/${org.id}/rooms/sensor/history?${new URLSearchParams({ ...window, interval: '1h' })}`
  const response = await new Promise<AsyncIterable<string>>((resolve, reject) => {
    get(harness.url + path, { headers: { authorization: `Bearer ${org.key}` } }, (message) =>
      resolve(message.setEncoding('utf8')),
    ).on('error', reject)
  })
  yield* response
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
const usedBytes = (): number => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test(`a year of ${roomCount} rooms is sent in short turns, and a reader that stops holds little memory [contract 6.sensorHistoryAll]`, {
  timeout: 1_200_000,
}, async () => {
  let [lines, bytes] = [0, 0]
  const startedAt = performance.now()
  await expectShortTurns('a year of all rooms', async () => {
    ;[lines, bytes] = [0, 0]
    for await (const text of download()) {
      lines += text.split('\n').length - 1
      bytes += text.length
    }
  })
  const seconds = (performance.now() - startedAt) / 1000
  expect(lines).toBe(1 + (roomCount * year) / hourSeconds)

  const before = usedBytes()
  const stopped = download()
  await stopped.next()
  for (let i = 0; i < 5000; i++) await nextTurn()
  const grown = usedBytes() - before
  await stopped.return(undefined)
  const mebibytes = (count: number) => `${(count / 1024 / 1024).toFixed(1)} MiB`
  process.stdout.write(
    `history of ${roomCount} rooms over a year: ${mebibytes(bytes)} in ${seconds.toFixed(1)} s, ${mebibytes(grown)} for a reader that stopped\n`,
  )
  printLongestTurn('of a history')
  expect(grown).toBeLessThan(Math.min(bytes / 2, 12 * 1024 * 1024))
})

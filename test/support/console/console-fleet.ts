// Starts a small fleet for tests of the console: two locations, a working pair, an offline room and samples.

import { type LiveDevice, startDevice } from '../devices/agent-device.ts'
import { enrolTestDevice } from '../devices/test-device.ts'
import type { Harness, TestOrg } from '../harness.ts'

export interface ConsoleFleet {
  readonly org: TestOrg
  readonly bar: LiveDevice
  readonly pad: LiveDevice
  /** The pair is in `fjord`, `skog` has a device that is not connected, `tomt` has no devices. */
  readonly rooms: { readonly fjord: number; readonly skog: number; readonly tomt: number }
  /** `oslo` has `fjord`, and is in `europe`. */
  readonly sites: { readonly europe: number; readonly oslo: number }
  readonly profileId: number
  stop(): Promise<void>
}

/** The room of the pair has one sample, with stale air; with `hasDayOfSamples` it has the samples of a day too, for charts. */
export async function startConsoleFleet(harness: Harness, { hasDayOfSamples = false } = {}): Promise<ConsoleFleet> {
  const org = await harness.newOrg('Nordlys AS')
  const create = async (path: string, body: object): Promise<number> => {
    const reply = await org.call('POST', path, { body })
    return reply.body.id ?? reply.body.profile.id
  }
  const europe = await create('/regions', { name: 'Europe' })
  const oslo = await create('/locations', { name: 'Oslo', regionId: europe, timezone: 'Asia/Tokyo' })
  const bergen = await create('/locations', { name: 'Bergen', regionId: europe })
  const fjord = await create('/rooms', { name: 'Fjord', locationId: oslo })
  const skog = await create('/rooms', { name: 'Skog', locationId: bergen })
  const tomt = await create('/rooms', { name: 'Tomt' })
  const profileId = await create('/profiles', { name: 'Quiet rooms', config: { nightMode: true } })
  await create(`/rooms/${fjord}/notes`, { note: 'The HDMI cable is on order.' })

  const status = { firmwareVersion: 'NFB1.20260401.0001', primaryMode: 'zoom' as const, timezone: 'Asia/Tokyo' }
  const bar = await startDevice(harness, org, { roomId: fjord, serial: 'BAR00001', model: 'NF19B1', status })
  const pad = await startDevice(harness, org, {
    ...{ roomId: fjord, serial: 'PAD00001', model: 'NF19A1' },
    pairingSerial: 'BAR00001',
    status: { firmwareVersion: 'NFA1.20260401.0001', pairingSerial: 'BAR00001' },
  })
  await enrolTestDevice(harness, org, { roomId: skog, serial: 'BAR00002', model: 'NF19B1' })

  // The samples of a day have a gap of six hours.
  const now = Math.floor(harness.clock.now() / 1000)
  for (let minutes = hasDayOfSamples ? 24 * 60 : 0; minutes > 0; minutes -= 10) {
    if (minutes > 600 && minutes < 960) continue
    await bar.sample({ timestamp: now - minutes * 60, co2: 500 + (minutes % 70) * 5, temp: 21.5, people: 3 })
  }
  await bar.sample({ co2: 1490, humidity: 40, illumination: 300, people: 5, temp: 22.1, voc: 300 })
  return {
    org,
    bar,
    pad,
    rooms: { fjord, skog, tomt },
    sites: { europe, oslo },
    profileId,
    async stop() {
      await pad.stop()
      await bar.stop()
    },
  }
}

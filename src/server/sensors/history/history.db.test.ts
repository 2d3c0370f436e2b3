// Sensor history over HTTP: buckets, samples, windows, pages and CSV of samples that devices sent over MQTT.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { daySeconds, hourSeconds } from '../../../contract/durations.ts'
import { orgTimezone } from '../../journal/orgs/rules.ts'
import { rollUp } from '../rollups/roll-up.ts'

const noon = Date.UTC(2026, 9, 28, 12) / 1000
let harness: Harness
let org: TestOrg
const devices: TestDevice[] = []
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(noon * 1000)
  org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
})
afterAll(async () => {
  for (const device of devices) await device.close()
  await harness.close()
})

type Sent = { at: number } & Record<string, number>
/** A device that has every sensor, and has sent this. */
async function deviceWith(...samples: Sent[]): Promise<TestDevice> {
  const device = await newDevice(harness, org, { roomId: 1, model: 'UNHEARD-OF' })
  devices.push(device)
  if (samples.length > 0) await send(device, ...samples)
  return device
}
const send = (device: TestDevice, ...samples: Sent[]) =>
  device.publish('sample', { samples: samples.map(({ at, ...values }) => ({ timestamp: at, ...values })) })

const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
const call = ({ id }: TestDevice, query: Record<string, string | number>, headers: Record<string, string> = {}) =>
  org.call('GET', `/endpoints/${id}/sensor/history?${new URLSearchParams(query as Record<string, string>)}`, {
    headers,
  })
async function read(device: TestDevice, query: Record<string, string | number>) {
  const { status, body, text } = await call(device, query)
  expect(status, text).toBe(200)
  return body
}
const today = { from: iso(noon - 12 * hourSeconds) }
const alone = (value: number) => ({ min: value, max: value, mean: value, count: 1 })

describe('endpointsSensorHistory [contract 6.sensorHistory]', () => {
  test('a bucket has the least, the largest and the mean value, and how many they were', async () => {
    const at = noon - 2 * hourSeconds
    const device = await deviceWith(
      { at, co2: 400, temp: 21.5, humidity: 40 },
      { at: at + 60, co2: 500, temp: -0.1 },
      { at: at + 120, co2: 401, people: 0 },
      { at: at + 900, vocIndex: 7 },
    )
    expect(await read(device, today)).toEqual({
      interval: '15m',
      timezone: 'UTC',
      buckets: [
        {
          start: '2026-10-28T10:00:00.000Z',
          co2: { min: 400, max: 500, mean: 433.67, count: 3 },
          humidity: alone(40),
          people: alone(0),
          temp: { min: -0.1, max: 21.5, mean: 10.7, count: 2 },
        },
        { start: '2026-10-28T10:15:00.000Z', vocIndex: alone(7) },
      ],
      nextPageToken: '',
    })
  })

  test('a mean is rounded to two decimals, a half upwards [contract D.37]', async () => {
    const temps = (at: number, ...values: number[]) => values.map((temp, i) => ({ at: at + i, temp }))
    const device = await deviceWith(
      ...temps(noon - hourSeconds, 0.1, 0, 0, 0, 0, 0, 0, 0),
      ...temps(noon - 2 * hourSeconds, -0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
      ...temps(noon - 3 * hourSeconds, -0.1, -0.1, -0.2),
      ...temps(noon - 4 * hourSeconds, 0, 0.1, 0.1),
    )
    const { buckets } = await read(device, { ...today, interval: '1h' })
    expect(buckets.map((b: { temp: { mean: number } }) => b.temp.mean)).toEqual([0.07, -0.13, 0, 0.01])
  })

  test('every interval shows the same samples, at once and also after they were rolled up', async () => {
    const at = noon - 3 * hourSeconds
    const sent = [0, 299, 300, 899, 900, 3599, 3600].map((after, i) => ({ at: at + after, co2: 400 + i }))
    const device = await deviceWith(...sent)
    const startsOf = async (interval: string) => {
      const { buckets } = await read(device, { ...today, interval })
      return buckets.map((b: { start: string; co2: { count: number } }) => [b.start.slice(11, 16), b.co2.count])
    }
    const expected = {
      '5m': [['09:00', 2], ['09:05', 1], ['09:10', 1], ['09:15', 1], ['09:55', 1], ['10:00', 1]],
      '15m': [['09:00', 4], ['09:15', 1], ['09:45', 1], ['10:00', 1]],
      '1h': [['09:00', 6], ['10:00', 1]],
      '1d': [['00:00', 7]],
    } // biome-ignore format: it is a table
    for (const isRolledUp of [false, true]) {
      if (isRolledUp) await rollUp(harness.services)
      for (const [interval, starts] of Object.entries(expected))
        expect(await startsOf(interval), interval).toEqual(starts)
      const { samples } = await read(device, { ...today, interval: 'raw' })
      expect(samples).toEqual(sent.map(({ at, co2 }) => ({ timestamp: String(at), co2 })))
    }
    await send(device, { at: at + 10, co2: 1000 }, { at: at + 300, co2: 9 })
    const [late] = (await read(device, { ...today, interval: '1h' })).buckets
    expect(late.co2, 'what comes late counts at once, what is there already changes nothing').toEqual({
      min: 400,
      max: 1000,
      mean: 487.86,
      count: 7,
    })
  })

  test('a bucket is whole, whatever the window cuts; samples are not [contract D.36]', async () => {
    const at = noon - 5 * hourSeconds
    const device = await deviceWith({ at, co2: 400 }, { at: at + 890, co2: 500 }, { at: at + 900, co2: 600 })
    const counts = async (from: number, to: number, interval = '15m') => {
      const { buckets, samples } = await read(device, { from: iso(from), to: iso(to), interval })
      return (buckets ?? samples).map((b: { co2: { count: number } }) => b.co2.count ?? b.co2)
    }
    expect(await counts(at + 100, at + 200)).toEqual([2])
    expect(await counts(at + 899, at + 900)).toEqual([2])
    expect(await counts(at + 899, at + 901)).toEqual([2, 1])
    expect(await counts(at + 900, at + 901)).toEqual([1])
    expect(await counts(at + 100, at + 100)).toEqual([])
    expect(await counts(at + 1, at + 900, 'raw')).toEqual([500])
    expect(await counts(at, at + 901, 'raw')).toEqual([400, 500, 600])
  })

  test('a day is a calendar day of the zone, also when its clocks are set', async () => {
    const night = Date.UTC(2026, 9, 25) / 1000
    const samples = [-2 * hourSeconds - 1, -2 * hourSeconds, 0, 23 * hourSeconds - 1, 23 * hourSeconds].map(
      (after) => ({
        at: night + after,
        co2: 1,
      }),
    )
    const device = await deviceWith(...samples)
    const daysOf = async (timezone?: string) => {
      const zone = timezone === undefined ? {} : { timezone }
      const { buckets } = await read(device, { from: iso(night - daySeconds), interval: '1d', ...zone })
      return buckets.map((b: { start: string; day: string; co2: { count: number } }) => [b.day, b.start, b.co2.count])
    }
    const oslo = [
      ['2026-10-24', '2026-10-23T22:00:00.000Z', 1],
      ['2026-10-25', '2026-10-24T22:00:00.000Z', 3],
      ['2026-10-26', '2026-10-25T23:00:00.000Z', 1],
    ]
    const utc = [
      ['2026-10-24', '2026-10-24T00:00:00.000Z', 2],
      ['2026-10-25', '2026-10-25T00:00:00.000Z', 3],
    ]
    expect(await daysOf('Europe/Oslo')).toEqual(oslo)
    await rollUp(harness.services)
    expect(await daysOf('Europe/Oslo')).toEqual(oslo)
    expect(await daysOf()).toEqual(utc)
    await orgTimezone(org.ctx, 'Europe/Oslo')
    expect(await daysOf(), 'made of quarters until the days are made anew').toEqual(oslo)
    await rollUp(harness.services)
    expect(await daysOf()).toEqual(oslo)
    expect(await daysOf('Etc/UTC')).toEqual(utc)
    await orgTimezone(org.ctx, 'UTC')
  })

  test('only the fields that were asked for are there, and nothing where none of them was measured', async () => {
    const device = await deviceWith(
      { at: noon - hourSeconds, co2: 400, temp: 20 },
      { at: noon - 2 * hourSeconds, people: 3 },
    )
    const fields = 'temp, co2,temp'
    const { buckets } = await read(device, { ...today, fields })
    expect(buckets).toEqual([{ start: iso(noon - hourSeconds), co2: alone(400), temp: alone(20) }])
    const { samples } = await read(device, { ...today, fields: 'people', interval: 'raw' })
    expect(samples).toEqual([{ timestamp: String(noon - 2 * hourSeconds), people: 3 }])
  })

  test('an impossible request is refused, and the sentence says what is possible', async () => {
    const device = await deviceWith()
    const { from } = today
    const refusals = [
      [{}, 'from', 'is required'],
      [{ from: 'yesterday' }, 'from', 'must be a date and time such as 2026-03-02T09:15:00Z'],
      [{ from, to: iso(noon - 13 * hourSeconds) }, 'from', 'must not be after to'],
      [{ from, interval: '2h' }, 'interval', 'must be one of raw, 5m, 15m, 1h, 1d'],
      [
        { from, fields: 'co2,radon' },
        'fields',
        'must be names from co2, humidity, illumination, people, temp, voc, vocIndex, separated by commas',
      ],
      [{ from, fields: '' }, 'fields', expect.stringContaining('co2')],
      [{ from, timezone: 'Mars/Base' }, 'timezone', expect.stringContaining('must be a time zone such as Europe/Oslo')],
      [{ from, pageSize: -1 }, 'pageSize', 'must not be negative'],
      [{ from, pageToken: 'rubbish' }, 'pageToken', expect.stringContaining('Start again without it')],
    ] as const
    for (const [query, field, error] of refusals) {
      const { status, body } = await call(device, query)
      expect([status, body.code, body.violations], field).toEqual([400, 'INVALID_ARGUMENT', [{ field, error }]])
    }
    expect((await read(device, { from: iso(noon + daySeconds) })).buckets, 'the future is empty').toEqual([])
  })

  test('pages of any size hold everything once; a token is bound to what was asked', async () => {
    const device = await deviceWith(
      ...Array.from({ length: 60 }, (_, i) => ({ at: noon - 6000 + i * 97, co2: 400 + i })),
    )
    for (const interval of ['raw', '5m', '15m', '1h']) {
      const all = await read(device, { ...today, interval })
      for (const pageSize of [1, 7, 59, 60, 61]) {
        const seen: unknown[] = []
        let token = ''
        do {
          const page = await read(device, { ...today, interval, pageSize, pageToken: token })
          const items = page.buckets ?? page.samples
          expect(items.length).toBeGreaterThan(0)
          seen.push(...items)
          token = page.nextPageToken
        } while (token !== '')
        expect(seen, `${interval} by ${pageSize}`).toEqual(all.buckets ?? all.samples)
      }
    }
    const pageToken = (await read(device, { ...today, pageSize: 1 })).nextPageToken
    const other = await deviceWith()
    for (const attempt of [
      call(other, { ...today, pageToken }),
      call(device, { ...today, pageToken, from: iso(noon - 11 * hourSeconds) }),
      call(device, { ...today, pageToken, to: iso(noon) }),
      call(device, { ...today, pageToken, interval: '5m' }),
      call(device, { ...today, pageToken, fields: 'co2' }),
      call(device, { ...today, pageToken, timezone: 'Europe/Oslo' }),
    ]) {
      expect((await attempt).body.violations?.[0].field).toBe('pageToken')
    }
  })

  test('as text/csv streams the whole window; a cell is empty where a value is absent', async () => {
    const device = await deviceWith(
      { at: noon - 2 * hourSeconds, co2: 400, temp: -0.5 },
      { at: noon - hourSeconds + 7, co2: 0 },
    )
    const csv = async (query: Record<string, string>) => {
      const reply = await call(device, { ...today, fields: 'co2,temp', ...query }, { accept: 'text/csv' })
      expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      expect(reply.headers.get('content-disposition')).toContain('attachment')
      expect(reply.headers.get('vary')).toMatch(/\bAccept\b(?!-)/)
      return reply.text.split('\r\n')
    }
    const head = 'co2_min,co2_max,co2_mean,co2_count,temp_min,temp_max,temp_mean,temp_count'
    expect(await csv({ pageSize: '1' })).toEqual([
      `start,${head}`,
      '2026-10-28T10:00:00.000Z,400,400,400,1,-0.5,-0.5,-0.5,1',
      '2026-10-28T11:00:00.000Z,0,0,0,1,,,,',
      '',
    ])
    expect(await csv({ interval: '1d', timezone: 'Europe/Oslo' })).toEqual([
      `start,day,${head}`,
      '2026-10-27T23:00:00.000Z,2026-10-28,0,400,200,2,-0.5,-0.5,-0.5,1',
      '',
    ])
    expect(await csv({ interval: 'raw' })).toEqual([
      'time,co2,temp',
      '2026-10-28T10:00:00.000Z,400,-0.5',
      '2026-10-28T11:00:07.000Z,0,',
      '',
    ])
    expect(await csv({ from: iso(noon) }), 'an empty window has a header').toHaveLength(2)
  })
})

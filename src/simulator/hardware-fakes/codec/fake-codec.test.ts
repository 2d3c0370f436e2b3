// The fake codec is judged by Cisco's own client, unmodified, and by the table of what four releases have.
import * as jsxapi from 'jsxapi'
import { afterEach, describe, expect, test } from 'vitest'
import { FakeCodec, type FakeCodecOptions } from './fake-codec.ts'
import { type FakeProductName, fakeProducts, firstValues } from './products.ts'
import { productCounts, releases } from './xapi-table.ts'
import { entryOf, isAllowed } from './xapi-values.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function startCodec(options: FakeCodecOptions = {}) {
  const codec = await FakeCodec.start(options)
  cleanUps.push(() => codec.stop())
  return codec
}

async function connectClient(codec: FakeCodec, { password = 'codec-password', protocol = 'wss:' } = {}) {
  const client = jsxapi.connect(`${protocol}//127.0.0.1:${codec.port}`, { username: 'admin', password })
  cleanUps.push(() => client.close())
  await new Promise<void>((resolve, reject) => {
    client.on('ready', () => resolve())
    client.on('error', reject)
  })
  return client
}

describe("Cisco's own client", () => {
  test('signs in, reads status and settings, sets one, runs a command and gets feedback', async () => {
    const codec = await startCodec()
    const client = await connectClient(codec)
    expect(await client.Status.SystemUnit.Uptime.get()).toBeGreaterThanOrEqual(3_600)
    expect(await client.status.get('Network 1 IPv4 Address')).toBe('10.20.30.40')
    expect(await client.status.get('Cameras Camera')).toMatchObject([
      { id: 1, Model: 'Quad Camera' },
      { id: 2, Connected: 'False' },
    ])
    const zones: unknown[] = []
    client.config.on('Time Zone', (zone: unknown) => zones.push(zone))
    const volumes: unknown[] = []
    client.status.on('Audio Volume', (volume: unknown) => volumes.push(volume))
    await client.config.set('Time Zone', 'Asia/Tokyo')
    expect(await client.config.get('Time Zone')).toBe('Asia/Tokyo')
    codec.set('Status', 'Audio Volume', 70)
    await client.command('Standby Activate')
    expect(await client.status.get('Standby State')).toBe('Standby')
    expect({ zones, volumes }).toEqual({ zones: ['Asia/Tokyo'], volumes: [70] })
    await client.command('UserInterface Message Alert Display', { Text: 'Lunch', Duration: 5 })
    expect(codec.alert).toEqual({ text: 'Lunch', seconds: 5 })
  })

  test('is told of errors by their codes, and no longer gets feedback after it has unsubscribed', async () => {
    const codec = await startCodec()
    const client = await connectClient(codec)
    await expect(client.status.get('Coffee Level')).rejects.toMatchObject({ code: 3 })
    await expect(client.config.set('Time Zone', 'Mars/Olympus')).rejects.toMatchObject({ code: 2 })
    await expect(client.command('UserInterface Message Alert Display', {})).rejects.toMatchObject({ code: 4 })
    await expect(client.command('Coffee Brew')).rejects.toMatchObject({ code: -32601 })
    const volumes: unknown[] = []
    const off = client.status.on('Audio Volume', (volume: unknown) => volumes.push(volume))
    await client.status.get('Audio Volume')
    codec.set('Status', 'Audio Volume', 20)
    await client.status.get('Audio Volume')
    off()
    await client.status.get('Audio Volume')
    codec.set('Status', 'Audio Volume', 30)
    await client.status.get('Audio Volume')
    expect(volumes).toEqual([20])
  })

  test('is refused with a wrong password, and with the right one after five wrong ones', async () => {
    const codec = await startCodec()
    for (let i = 0; i < 5; i++) await expect(connectClient(codec, { password: 'wrong' })).rejects.toBeDefined()
    await expect(connectClient(codec)).rejects.toBeDefined()
    codec.unlock()
    await connectClient(codec)
    expect(codec.signIns.right).toBe(1)
  })

  test('works without TLS, with a codec that has none', async () => {
    const codec = await startCodec({ isPlain: true })
    const client = await connectClient(codec, { protocol: 'ws:' })
    expect(await client.status.get('SystemUnit ProductPlatform')).toBe('Room Kit Pro')
  })
})

describe.each(releases)('the fake codec with RoomOS %s', (release) => {
  test.each(Object.keys(fakeProducts) as FakeProductName[])('as %s reports only what that release has', (product) => {
    const codec = new FakeCodec({ release, product })
    const known = firstValues(product, 'X').filter(([kind, path]) => codec.has(kind, path))
    expect(known.length).toBeGreaterThan(60)
    for (const [kind, path, value] of known) {
      const entry = entryOf(release, kind, path)
      expect(entry && isAllowed(entry, value), `${path} = ${value}`).toBe(true)
    }
  })

  test('has everything that every product of that release has', () => {
    for (const product of Object.keys(fakeProducts) as FakeProductName[]) {
      for (const path of fakeProducts[product].lacks as readonly string[]) {
        const entry = entryOf(release, 'Status', path) ?? entryOf(release, 'Configuration', path)
        expect(entry?.in[release] ?? 0, `${product} lacks ${path}`).toBeLessThan(productCounts[release] - 1)
      }
    }
  })
})

test('a value that a release does not have cannot be set at the fake', () => {
  const codec = new FakeCodec({ release: '9.15' })
  expect(() => codec.set('Status', 'RoomAnalytics RoomInUse', 'True')).toThrow('RoomOS 9.15 has no Status')
  expect(() => codec.set('Status', 'Standby State', 'Asleep')).toThrow('cannot be Asleep')
})

// A channel cannot make the server connect to an address that its users must not reach. [contract 10.outbound]
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listDeliveryRows, newChannel, newMessages } from '../../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { until } from '../../../../../test/support/program.ts'
import type { ResolveName } from '../../../../network/name-lookups.ts'
import { openOutbound } from '../../../outbound/outbound-fetch.ts'
import { postJson } from './post-json.ts'

let harness: Harness
let org: TestOrg
const listeners: Server[] = []
let connections = 0
let port: number

beforeAll(async () => {
  // The server listens on loopback only. For channels, loopback is as forbidden as any other address of the network all the same.
  harness = await startHarness({ outboundAllow: [] }, quickTasks)
  org = await harness.newOrg()
  port = await listen('127.0.0.1', 0)
  await listen('::1', port).catch(() => {})
})
afterAll(async () => {
  for (const listener of listeners) listener.close()
  await harness.close()
})

async function listen(host: string, onPort: number): Promise<number> {
  const listener = createServer((socket) => {
    connections++
    socket.destroy()
  })
  listener.listen(onPort, host)
  await once(listener, 'listening')
  listeners.push(listener)
  return (listener.address() as AddressInfo).port
}

const hosts = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.0.0.1.', '2130706433', '017700000001', '0177.0.0.1', '0x7f.0.0.1'],
  ...['0x7f000001', '0x7f.1', '%31%32%37.0.0.1', '①②⑦.0.0.1', '127。0。0。1', '0', '0x0', '0.0.0.0', '0.0.0.0.'],
  ...['127.255.255.255', '127.0.0.2', '10.0.0.1', '10.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.1'],
  ...['3232235521', '0xc0.0xa8.0.1', '0300.0250.0.1', '100.64.0.1', '169.254.169.254', '2852039166', '0xa9fea9fe'],
  ...['0251.0376.0251.0376', '169.254.43518', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.7', '203.0.113.5'],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', 'localhost', 'LOCALHOST'],
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::FFFF:A00:1]', '[::127.0.0.1]'],
  ...['[64:ff9b::7f00:1]', '[64:FF9B::169.254.169.254]', '[64:ff9b:1::1]', '[2002:7f00:1::]', '[2002:a9fe:a9fe::1]'],
  ...['[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[fec0::1]', '[ff02::1]', '[2001:db8::1]', '[100::1]', '[2001::1]'],
]

test('more than 60 hostile addresses get no connection, over http and https', async () => {
  expect(hosts.length).toBeGreaterThan(60)
  const channels = new Map<number, string>()
  for (const [i, host] of hosts.entries()) {
    const url = `${i % 2 === 0 ? 'https' : 'http'}://${host}:${port}/hook`
    const channel = await newChannel(harness, org, { secrets: { url } })
    await newMessages(harness, org, channel, [{ subject: 'incident 1' }])
    channels.set(channel, url)
  }
  for (const [channel, url] of channels) {
    const [row] = await until(`${url} was tried`, async () => {
      const rows = await listDeliveryRows(harness, channel)
      return (rows[0]?.attempts ?? 0) > 0 && rows
    })
    expect(row?.error, url).toBe('address not allowed')
  }
  expect(connections).toBe(0)
})

test('a name that changes its address reaches the checked one only', async () => {
  const named = await Receiver.start()
  const namedPort = Number(new URL(named.url).port)
  const answers = ['127.0.0.1', '127.0.0.2', '10.0.0.1', '169.254.169.254', '::1']
  let lookups = 0
  const resolveName: ResolveName = (_, __, callback) => {
    const address = answers[Math.min(lookups++, answers.length - 1)] as string
    callback(null, [{ address, family: address.includes(':') ? 6 : 4 }])
  }
  const outbound = openOutbound({ allow: ['127.0.0.1'], allowLoopback: false }, { resolveName })
  const send = () =>
    postJson(outbound.fetch, {
      url: `http://hooks.example.org:${namedPort}/`,
      body: '{}',
      now: Date.now(),
      signal: new AbortController().signal,
    })
  expect(await send()).toEqual({ isDelivered: true, status: 204 })
  for (const _ of answers.slice(1)) {
    expect(await send()).toEqual({ isDelivered: false, status: null, error: 'address not allowed' })
  }
  await outbound.close()
  expect(lookups).toBe(answers.length)
  expect(named.received).toHaveLength(1)
  expect(connections).toBe(0)
})

// Agents that answer nonsense: the state of the item says it, and the process goes on.
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { openTestSession, sentStatus, whyNot } from '../../../../test/support/drivers/driver-session.ts'
import { loopbackTrusting } from '../../../../test/support/drivers/loopback-network.ts'
import { SnmpDriver, usualSnmpLimits } from './snmp.ts'

const driver = new SnmpDriver({ ...usualSnmpLimits, firstAnswerMs: 500, request: { timeoutMs: 500, retries: 1 } })

/** The tags of BER that messages of SNMP have. */
const tag = {
  integer: 0x02,
  octets: 0x04,
  oid: 0x06,
  sequence: 0x30,
  counter: 0x41,
  getResponse: 0xa2,
  getBulk: 0xa5,
  report: 0xa8,
}

function ber(type: number, ...content: (Buffer | number)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from([part]))))
  const { length } = body
  const size = length < 128 ? [length] : length < 65_536 ? [0x82, length >> 8, length & 255] : []
  return Buffer.concat([Buffer.from([type, ...size]), body])
}
const integer = (value: number) => {
  const bytes = Buffer.alloc(5)
  bytes.writeUInt32BE(value, 1)
  return ber(tag.integer, bytes)
}
const oid = (text: string) => {
  const [, , ...rest] = text.split('.').map(Number)
  return ber(tag.oid, 0x2b, ...rest.flatMap((n) => (n < 128 ? [n] : [0x80 | (n >> 7), n & 127])))
}

/** The values inside a sequence, by position. */
function parts(sequence: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = headerLength(sequence); at < sequence.length; ) {
    const rest = sequence.subarray(at)
    const first = rest[1] as number
    const length = first < 128 ? first : rest.readUIntBE(2, first & 127)
    const end = headerLength(rest) + length
    found.push(rest.subarray(0, end))
    at += end
  }
  return found
}
const headerLength = (value: Buffer) => 2 + ((value[1] as number) < 128 ? 0 : (value[1] as number) & 127)
const part = (value: Buffer, ...path: number[]) => path.reduce((inside, at) => parts(inside)[at] as Buffer, value)
const content = (value: Buffer) => value.subarray(headerLength(value))

/** The id of a request of version 2c, as it was sent. */
const requestId = (request: Buffer) => part(request, 2, 0)
const community = ber(tag.octets, Buffer.from('public'))
const answerV2 = (request: Buffer, ...varbinds: Buffer[]) =>
  ber(
    tag.sequence,
    integer(1),
    community,
    ber(tag.getResponse, requestId(request), integer(0), integer(0), ber(tag.sequence, ...varbinds)),
  )
const varbind = (name: string, value: Buffer) => ber(tag.sequence, oid(name), value)

/** A message of version 3 with this id; its flags say whether it is signed. */
const messageV3 = (id: Buffer, flags: number, pdu: Buffer, boots = 0) => {
  const empty = ber(tag.octets)
  const engine = ber(tag.octets, Buffer.from('80001f8804abcdef', 'hex'))
  const security = ber(tag.sequence, engine, integer(boots), integer(0), empty, empty, empty)
  return ber(
    tag.sequence,
    integer(3),
    ber(tag.sequence, id, integer(65_507), ber(tag.octets, flags), integer(3)),
    ber(tag.octets, security),
    ber(tag.sequence, engine, empty, pdu),
  )
}
const unknownEngine = ber(
  tag.report,
  integer(1),
  integer(0),
  integer(0),
  ber(tag.sequence, varbind('1.3.6.1.6.3.15.1.1.4.0', ber(tag.counter, 1))),
)

/** Answers each datagram with those that the function returns. */
async function fakeAgent(
  answer: (request: Buffer, sender: RemoteInfo) => Buffer[],
): Promise<{ port: number; requests: () => number }> {
  const socket = createSocket('udp4')
  let received = 0
  socket.on('message', (request, sender) => {
    received++
    for (const bytes of answer(request, sender)) socket.send(bytes, sender.port, sender.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { port: socket.address().port, requests: () => received }
}

test.each<[string, (request: Buffer) => Buffer[]]>([
  ['bytes at random', () => [Buffer.from('deadbeef00ff', 'hex')]],
  ['an empty datagram', () => [Buffer.alloc(0)]],
  ['text', () => [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]],
  ['60 kB', () => [Buffer.alloc(60_000, 0x30)]],
  ['its own question', (request) => [request]],
  ['a signed message of version 3 to version 2c', (request) => [messageV3(requestId(request), 1, unknownEngine)]],
  [
    'an encrypted message of version 3 to version 2c',
    (request) => [messageV3(requestId(request), 3, ber(tag.octets, 1, 2, 3))],
  ],
  ['half of an answer', (request) => [answerV2(request, varbind('1.3.6.1.2.1.1.2.0', oid('1.3.6.1'))).subarray(0, -3)]],
  ['an object of another type', (request) => [answerV2(request, varbind('1.3.6.1.2.1.1.2.0', ber(0x99, 1)))]],
  [
    'the answer to another question',
    (request) => [answerV2(request, varbind('1.3.6.1.2.1.1.5.0', ber(tag.octets, 0x41)))],
  ],
  [
    'the number of another question',
    () => [
      ber(
        tag.sequence,
        integer(1),
        community,
        ber(tag.getResponse, integer(7), integer(0), integer(0), ber(tag.sequence)),
      ),
    ],
  ],
  ['no object', (request) => [answerV2(request)]],
  ['an answer without a name', (request) => [answerV2(request, ber(tag.sequence, ber(tag.oid), ber(tag.octets)))]],
])('an agent that answers with %s is told apart from a dead host', async (_, answer) => {
  const { port } = await fakeAgent(answer)
  expect(await whyNot(driver, { port })).toMatch(/^UNSUPPORTED: /)
})

test('an agent that asks for the clock again and again is asked a bounded number of times', async () => {
  const agent = await fakeAgent((request) => [messageV3(part(request, 1, 0), 0, unknownEngine)])
  const item = { port: agent.port, username: 'user', secret: 'password1', options: { version: '3' } }
  expect(await whyNot(driver, item)).toMatch(/^(UNSUPPORTED|REFUSED): /)
  expect(agent.requests()).toBeLessThan(100)
})

test('datagrams of another sender are not read', async () => {
  const stranger = createSocket('udp4')
  onTestFinished(() => void stranger.close())
  const objectId = Buffer.from([0x2b, 6, 1, 2, 1, 1, 2, 0])
  const noSuchObject = 0x80
  const endOfMibView = 0x82
  const { port, requests } = await fakeAgent((request, sender) => {
    const isBulk = part(request, 2)[0] === tag.getBulk
    const asked = parts(part(request, 2, 3)).map((one) => content(part(one, 0)))
    const shown = (name: Buffer) =>
      name.equals(objectId) ? oid('1.3.6.1.4.1.9.1.1') : ber(isBulk ? endOfMibView : noSuchObject)
    const answer = (value: (name: Buffer) => Buffer) =>
      answerV2(request, ...asked.map((name) => ber(tag.sequence, ber(tag.oid, name), value(name))))
    stranger.send(
      answer(() => oid('1.3.6.1.4.1.318.1.1')),
      sender.port,
      sender.address,
    )
    stranger.send(Buffer.from('nonsense'), sender.port, sender.address)
    return [answer(shown)]
  })
  const session = await openTestSession(driver, { port })
  expect(session.identity).toMatchObject({ manufacturer: 'Cisco', model: 'Cisco' })
  expect(sentStatus(session)).toMatchObject({ networks: [], faults: [] })
  expect(requests(), 'few questions are enough').toBeLessThan(8)
})

test('an attempt ends with its signal', async () => {
  const { port, requests } = await fakeAgent(() => [])
  const ending = new AbortController()
  const context = { network: loopbackTrusting(), signal: ending.signal }
  const attempt = new SnmpDriver().open({ host: 'device.example', port, options: {} }, context)
  await expect.poll(requests).toBeGreaterThan(0)
  const reason = new Error('the item was deleted')
  ending.abort(reason)
  await expect(attempt).rejects.toBe(reason)
})

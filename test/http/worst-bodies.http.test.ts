// Tests that no single body or message blocks the event loop for long, whatever it contains. [contract 7.1] [contract 7.2] In the
// short form each operation and each kind of message takes a few of the worst bodies, the next one the next ones.
import { Agent } from 'node:http'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  devicePaths,
  EnrolRequest,
  maxPacketBytes,
  type UpKind,
  upMessages,
  upTopic,
} from '../../src/contract/device/protocol.ts'
import { largeBodyBytes, smallBodyBytes } from '../../src/contract/operation.ts'
import { operationList } from '../../src/contract/operations.ts'
import { SignIn, sessionPath } from '../../src/contract/people/session.ts'
import { PasskeyAdd, PasskeySignIn, passkeyAddPath, passkeySignInPath } from '../../src/contract/people/sign-in.ts'
import { own } from '../support/console/console-session.ts'
import { invite, signInByLink } from '../support/console/user-session.ts'
import { calls, pathFor } from '../support/contract/calls.ts'
import { frame, frames, rawMqtt, text } from '../support/devices/raw-mqtt.ts'
import { enrolTestDevice } from '../support/devices/test-device.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm, sampleOf } from '../support/long-form.ts'
import { expectShortTurns, printLongestTurn } from '../support/longest-turn.ts'
import { ProviderSite } from '../support/oidc/provider-site.ts'
import { until } from '../support/program.ts'
import { sendRawJson } from '../support/raw-http.ts'
import { worstBodies, worstForms } from '../support/worst-bodies.ts'

let harness: Harness
let f: Fixture
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
beforeAll(async () => {
  harness = await startHarness()
  f = await newFixture(harness)
})
afterAll(async () => {
  printLongestTurn('of the worst bodies and messages')
  agent.destroy()
  await harness.close()
})

async function send(method: string, path: string, body: Buffer, headers: Record<string, string>): Promise<void> {
  expect(await sendRawJson(agent, method, harness.url + path, body, headers)).not.toBe(413)
}

let turn = 0
const someOf = <T>(bodies: readonly T[]): readonly T[] => sampleOf(bodies, turn++, 3)

test.each(operationList.filter(({ body }) => body !== undefined).map(({ id }) => id))('%s', async (id) => {
  const { method, body, bodyLimitBytes, bodyWrapper } = operationList.find((operation) => operation.id === id) ?? {}
  const path = pathFor(f, id)
  const { body: valid } = calls[id](f) as { body: object }
  const beside = Array.isArray(valid) ? {} : bodyWrapper === undefined ? valid : { [bodyWrapper]: valid }
  for (const [name, makeBody] of someOf(worstBodies(body as object, bodyLimitBytes as number, beside))) {
    const bytes = makeBody()
    await expectShortTurns(name, () => send(method as string, path, bytes, { authorization: `Bearer ${f.key}` }))
  }
})

test.each([
  [devicePaths.enrol, EnrolRequest],
  [sessionPath, SignIn],
  [passkeySignInPath, PasskeySignIn],
])('%s', async (path, schema) => {
  for (const [name, makeBody] of someOf(worstBodies(schema, smallBodyBytes))) {
    const bytes = makeBody()
    await expectShortTurns(name, () => send('POST', path, bytes, own))
  }
})

test(`${passkeyAddPath} by a person`, async () => {
  const { link } = await invite(f)
  const { cookie } = await signInByLink(harness, { link })
  for (const [name, makeBody] of someOf(worstBodies(PasskeyAdd, largeBodyBytes))) {
    const bytes = makeBody()
    await expectShortTurns(name, () => send('POST', passkeyAddPath, bytes, { ...own, cookie }))
  }
})

test('no form of a back-channel logout holds the event loop for 20 ms', async () => {
  const site = await ProviderSite.start()
  onTestFinished(() => site.close())
  const { id } = await site.newOrg()
  const url = `${site.harness.url}/auth/${id}/oidc/backchannel`
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const forms = [...worstForms('logout_token', smallBodyBytes)]
  for (const [name, bytes] of isFullForm ? forms : forms.filter((_, i) => i % 4 === 0)) {
    // The limit on failures of one address may answer 429, but the body is read first.
    await expectShortTurns(name, async () =>
      expect([400, 429]).toContain(await sendRawJson(agent, 'POST', url, bytes, form)),
    )
  }
})

const someId = '0b0f3c52-6d3c-4c3e-8c55-0d5b5f0e8f10'
const validMessages: Record<UpKind, object> = {
  status: { orientation: 'portrait' },
  sample: { samples: [{ timestamp: 1, people: 3 }] },
  config: { version: 0, config: { nightMode: true } },
  operation: { id: someId, state: 'SUCCEEDED' },
  logs: { id: someId, state: 'UPLOADED' },
  devices: { devices: [{ id: someId, revision: 1, state: 'CONNECTED' }] },
  sources: { sources: [{ id: someId, revision: 1, state: 'CONNECTED' }] },
}
test.each(Object.keys(upMessages) as UpKind[])('a message of the kind %s', async (kind) => {
  const { answer } = await enrolTestDevice(harness, f, { roomId: f.room })
  const { endpointId, credential } = answer
  const topic = text(upTopic(endpointId, kind))
  const it = await rawMqtt(harness.mqttPort)
  it.socket.write(frames.connect(endpointId, credential))
  await until('CONNACK', () => it.received.length === 1)
  // The packet id has two bytes.
  const bodies = worstBodies(upMessages[kind], maxPacketBytes - topic.length - 2, validMessages[kind])
  for (const [name, makeBody] of someOf(bodies)) {
    const packet = frame(0x32, topic, Buffer.from([0, 1]), makeBody())
    // A minute later, so that bad messages do not slow the device.
    harness.clock.advance(60_000)
    await expectShortTurns(name, async () => {
      const before = it.received.length
      it.socket.write(packet)
      while (it.received.length === before && !it.isClosed) await new Promise(setImmediate)
      expect(it.isClosed, 'a message of the largest size is read').toBe(false)
    })
  }
  it.socket.destroy()
})

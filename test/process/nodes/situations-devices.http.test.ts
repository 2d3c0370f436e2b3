// Devices between nodes: one that changes node all the time, clocks that differ, and two uploads of one bundle at the same time.
import { gunzipSync, gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { EnrolAnswer } from '../../../src/contract/device/protocol.ts'
import { TestDevice } from '../../support/devices/test-device.ts'
import { newPlace, quiet, type Reply, send, TestClock } from '../../support/harness.ts'
import { type ServiceGroup, startServices } from '../../support/nodes/service-group.ts'
import { checkExecutions } from '../../support/nodes/trial/checkers/executions.ts'
import { TrialDevice } from '../../support/nodes/trial/fleet-device.ts'
import { newDeviceHistory } from '../../support/nodes/trial/histories.ts'
import { until } from '../../support/program.ts'

/** The clocks of the three nodes are 3 s apart from each other. */
const offsetsMs = [-3000, 0, 3000] as const
const model = 'NF19B1'

describe('three nodes whose clocks are 3 s apart', () => {
  let group: ServiceGroup
  let org = ''
  let key = ''
  let remove: () => Promise<void>
  beforeAll(async () => {
    const newClock = (offset: number) => {
      const clock = new TestClock()
      clock.advance(offset)
      return clock
    }
    const [first, ...others] = offsetsMs
    const empty = await newPlace()
    remove = empty.remove
    const options = { ...quiet, ...empty.place }
    group = await startServices(options, pino({ level: 'silent' }), [newClock(first), ...others.map(newClock)])
    const made = group.members[0]?.first
    org = made?.org ?? ''
    key = made?.key ?? ''
  })
  afterAll(async () => {
    await group.close()
    await remove()
  })

  const callNode = (node: number, method: string, path: string, body?: unknown): Promise<Reply> =>
    send(group.members[node]?.url ?? '', method, `/v1/orgs/${org}${path}`, { key, body })
  const portOf = (node: number) => group.members[node]?.mqttPort ?? 0

  let serials = 0
  const enrol = async (): Promise<{ serial: string; answer: EnrolAnswer }> => {
    const room = await callNode(0, 'POST', '/rooms', { name: 'Fjord' })
    const serial = `BETWEEN-${++serials}`
    const body = { code: room.body.dec, serial, model }
    const reply = await send(group.nextUrl(), 'POST', '/device/v1/enrol', { body })
    expect(reply.status, reply.text).toBe(200)
    return { serial, answer: reply.body }
  }

  test('a device that connects to two nodes in turn, 20 times, has one connection left and executes a command once', async () => {
    const { serial, answer } = await enrol()
    const connections: TestDevice[] = []
    onTestFinished(async () => {
      for (const device of connections) await device.close()
    })
    for (let i = 0; i < 20; i++) {
      const device = new TestDevice(portOf(i % 2), serial, model, answer)
      connections.push(device)
      await device.connect()
      if (i === 15) {
        const body = { message: 'Once.', endpointIds: [answer.endpointId] }
        expect((await callNode(2, 'POST', '/endpoints/send_message', body)).status).toBe(200)
        const { id } = await device.next('operation')
        await device.publish('operation', { id, state: 'SUCCEEDED' })
      }
    }
    const open = () => connections.filter(({ client }) => !client.stream.destroyed)
    await until('one connection is left', () => open().length === 1)
    expect(open()).toEqual([connections.at(-1)])
    for (const node of [0, 1, 2]) {
      expect((await callNode(node, 'GET', `/endpoints/${answer.endpointId}`)).body.connected).toBe(true)
    }
    const received = connections.flatMap((device) => device.received).filter(({ kind }) => kind === 'operation')
    expect(received).toHaveLength(1)
    await connections.at(-1)?.close()
    for (const node of [0, 1, 2]) {
      await until('it is offline', async () => {
        const { body } = await callNode(node, 'GET', `/endpoints/${answer.endpointId}`)
        return body.connected === false
      })
    }
  })

  test('reboots succeed whatever node they are asked of, nothing is delivered twice, and audit times never run backwards', async () => {
    const { answer } = await enrol()
    const history = newDeviceHistory()
    const times = { sampleEveryMs: 1000, statusEveryMs: 1000, acknowledgementTimeoutMs: 10_000, reconnectMs: () => 50 }
    let turns = 0
    const target = () => {
      const node = turns++ % offsetsMs.length
      return { name: `node-${node + 1}`, mqttPort: portOf(node) }
    }
    const device = new TrialDevice(answer, history, times, Math.floor(Date.now() / 1000) - 86_400, target)
    const ticking = setInterval(() => device.tick(performance.now()), 50)
    onTestFinished(() => {
      clearInterval(ticking)
      device.stop()
    })
    device.connect()
    await until('it is connected', () => device.isConnected)
    const requested: string[] = []
    // The device is at each node once for each node that it is asked of.
    for (let i = 0; i < 9; i++) {
      const asked = Math.floor(i / 3)
      const reply = await callNode(asked, 'POST', `/endpoints/${answer.endpointId}/reboot`)
      expect(reply.status, reply.text).toBe(200)
      const { id } = reply.body.operations[0]
      requested.push(id)
      await until('the reboot succeeds', async () => {
        const { body } = await callNode(asked, 'GET', `/operations/${id}`)
        expect(['QUEUED', 'SENT', 'ACKNOWLEDGED', 'SUCCEEDED']).toContain(body.state)
        return body.state === 'SUCCEEDED' && device.isConnected
      })
    }
    const stored = requested.map((id) => ({ id, type: 'REBOOT', state: 'SUCCEEDED' }))
    expect(checkExecutions(history, stored, requested)).toEqual([])
    expect(history.deliveries.map(({ commandId }) => commandId)).toEqual(requested)

    const path = '/audit/logs?from=1970-01-01T00:00:00Z&to=9999-01-01T00:00:00Z&pageSize=1000'
    const logs: { timestamp: string }[] = (await callNode(1, 'GET', path)).body.logs
    const written = logs.map(({ timestamp }) => Date.parse(timestamp)).toReversed()
    expect(written).toEqual(written.toSorted((a, b) => a - b))
  })

  test('one of two uploads of one bundle at two nodes counts, and its content is downloaded', async () => {
    const { serial, answer } = await enrol()
    const device = new TestDevice(portOf(0), serial, model, answer)
    onTestFinished(() => device.close())
    await device.connect()
    const report = await callNode(1, 'POST', '/endpoints/generate_bug_report', [answer.endpointId])
    expect(report.status, report.text).toBe(200)
    const { logs } = await device.next('operation')
    const upload = new URL(logs.uploadUrl)
    const contents = ['first', 'second'].map((word) => `${word}\n`.repeat(100_000))
    const put = (node: number, text: string) =>
      fetch(`${group.members[node]?.url}${upload.pathname}${upload.search}`, {
        method: 'PUT',
        headers: {
          authorization: `Basic ${btoa(`${answer.endpointId}:${answer.credential}`)}`,
          'content-type': 'application/gzip',
        },
        body: gzipSync(text),
      })
    const statuses = (await Promise.all(contents.map((text, node) => put(node, text)))).map(({ status }) => status)
    expect(statuses, 'one counts').toContain(200)
    const { supportId } = report.body
    const downloads = await Promise.all(
      [0, 1, 2].map(async (node) => {
        const url = `${group.members[node]?.url}/v1/orgs/${org}/bug_reports/${supportId}/files/${answer.endpointId}.log.gz`
        const reply = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
        expect(reply.status).toBe(200)
        return gunzipSync(Buffer.from(await reply.arrayBuffer())).toString()
      }),
    )
    const counting = contents.filter((_, i) => statuses[i] === 200)
    expect(counting).toContain(downloads[0])
    expect(new Set(downloads).size, 'every node gives the same').toBe(1)
  })
})

// Tests which commands and bug reports a caller sees that is limited to regions. [contract 11.access]
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enrolTestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import {
  expectNothingChanged,
  expectSameAsUnknown,
  hiddenSites,
  newTwoRegions,
  type TwoRegions,
} from '../../../../test/support/places/two-regions.ts'
import { uploadUrl } from '../bug-reports/upload.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const unknownRoom = 9

async function messageTo({ org }: TwoRegions, endpointId: string): Promise<string> {
  const body = { message: 'Hello.', endpointIds: [endpointId] }
  return (await org.call('POST', '/endpoints/send_message', { body })).body.operations[0].id
}

test('an operation is visible with its endpoint, and a hidden one gets the answer to an unknown id', async () => {
  const t = await newTwoRegions(harness)
  const mine = await messageTo(t, t.mine.endpoint)
  const hidden = await Promise.all(hiddenSites(t).map(({ endpoint }) => messageTo(t, endpoint)))
  expect((await t.call('GET', `/operations/${mine}`)).body).toMatchObject({ id: mine, state: 'QUEUED' })
  const list = (await t.call('GET', `/endpoints/${t.mine.endpoint}/operations`)).body.operations
  expect(list).toMatchObject([{ id: mine }])
  expect((await t.call('GET', '/operations')).body.operations).toMatchObject([{ id: mine }])
  await expectNothingChanged(t, async () => {
    for (const operation of hidden) {
      for (const method of ['GET', 'DELETE']) {
        const ids = [operation, randomUUID()] as const
        expect((await expectSameAsUnknown(t, ids, (id) => [method, `/operations/${id}`])).status).toBe(404)
      }
      const { body } = await t.org.call('GET', `/operations/${operation}`)
      expect(body, 'the cancellation was rolled back').toMatchObject({ state: 'QUEUED' })
    }
  })
  // A hidden operation that cannot be cancelled any more is as unknown as one that can.
  await t.org.call('DELETE', `/operations/${hidden[0]}`)
  const ids = [hidden[0] as string, randomUUID()] as const
  expect((await expectSameAsUnknown(t, ids, (id) => ['DELETE', `/operations/${id}`])).status).toBe(404)
  expect((await t.call('DELETE', `/operations/${mine}`)).status).toBe(200)
})

test('the operations of an unenrolled endpoint are in no region', async () => {
  const t = await newTwoRegions(harness)
  const mine = await messageTo(t, t.mine.endpoint)
  await t.call('DELETE', `/endpoints/${t.mine.endpoint}`)
  expect((await t.call('GET', `/operations/${mine}`)).status).toBe(404)
  expect((await t.org.call('GET', `/operations/${mine}`)).body).toMatchObject({ state: 'CANCELLED' })
})

test('a message or bug report that names something hidden gets the answer to an unknown id, and nothing happens', async () => {
  const t = await newTwoRegions(harness)
  await expectNothingChanged(t, async () => {
    const refused = async <I extends string | number>(
      ids: readonly [I, I],
      path: string,
      body: (id: I) => unknown,
    ): Promise<void> => {
      const { status, body: error } = await expectSameAsUnknown(t, ids, (id) => ['POST', path, body(id)])
      expect([status, error.code], path).toEqual([400, 'INVALID_ARGUMENT'])
    }
    for (const { endpoint, room } of hiddenSites(t)) {
      const message = 'Hello.'
      const endpoints = [endpoint, randomUUID()] as const
      await refused(endpoints, '/endpoints/send_message', (id) => ({ message, endpointIds: [t.mine.endpoint, id] }))
      await refused(endpoints, '/endpoints/generate_bug_report', (id) => [id, t.mine.endpoint])
      await refused([room, unknownRoom], '/rooms/send_message', (id) => ({ message, roomIds: [t.mine.room, id] }))
    }
  })
  const sent = await t.call('POST', '/rooms/send_message', { body: { message: 'Hi.', roomIds: [t.mine.room] } })
  expect(sent.body.operations).toMatchObject([{ endpointId: t.mine.endpoint }])
})

/** A device that is enrolled in the room and uploads its logs for a bug report. */
async function newLogDevice({ org }: TwoRegions, roomId: number) {
  const { answer } = await enrolTestDevice(harness, org, { roomId })
  const { endpointId: id, credential } = answer
  const upload = async () => {
    const { operations } = (await org.call('GET', `/endpoints/${id}/operations`)).body
    const uploaded = await fetch(uploadUrl(harness.services, org.org, operations[0].id), {
      method: 'PUT',
      headers: { authorization: `Basic ${btoa(`${id}:${credential}`)}`, 'content-type': 'application/gzip' },
      body: gzipSync(`logs of ${id}`),
    })
    expect(uploaded.status, await uploaded.text()).toBe(200)
  }
  return { id, upload }
}

test('a bug report shows its visible endpoints and their files, and without one it is unknown', async () => {
  const t = await newTwoRegions(harness)
  const [mine, other] = [await newLogDevice(t, t.mine.room), await newLogDevice(t, t.other.room)]
  const reportOf = async (...ids: string[]): Promise<string> =>
    (await t.org.call('POST', '/endpoints/generate_bug_report', { body: ids })).body.supportId
  const hidden = await reportOf(other.id)
  const unknownReport = async (supportId: string) => {
    for (const path of ['', `/files/${other.id}.log.gz`, `/files/${mine.id}.log.gz`]) {
      const ids = [supportId, 'AAAA-AAAA'] as const
      const { status } = await expectSameAsUnknown(t, ids, (id) => ['GET', `/bug_reports/${id}${path}`])
      expect(status).toBe(404)
    }
  }
  await unknownReport(hidden)
  const both = await reportOf(mine.id, other.id)
  for (const device of [mine, other]) await device.upload()
  const { body } = await t.call('GET', `/bug_reports/${both}`)
  expect(body.endpoints).toMatchObject([{ endpointId: mine.id, state: 'UPLOADED', file: `${mine.id}.log.gz` }])
  expect(body.endpoints).toHaveLength(1)
  expect((await t.call('GET', `/bug_reports/${both}/files/${mine.id}.log.gz`)).status).toBe(200)
  const files = [other.id, randomUUID()] as const
  const file = await expectSameAsUnknown(t, files, (id) => ['GET', `/bug_reports/${both}/files/${id}.log.gz`])
  expect(file.status).toBe(404)
  expect((await t.org.call('GET', `/bug_reports/${both}`)).body.endpoints).toHaveLength(2)
  await t.call('DELETE', `/endpoints/${mine.id}`)
  await unknownReport(both)
})

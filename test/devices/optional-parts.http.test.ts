// Parts of the device protocol that makers may leave out or choose: an empty `rejected`, and the media type of an upload.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle, commandFor, newOrgWithRoom, type OrgWithRoom, proofOf } from '../support/devices/log-bundles.ts'
import { type Harness, startHarness } from '../support/harness.ts'

let harness: Harness
let org: OrgWithRoom
beforeAll(async () => {
  harness = await startHarness()
  org = await newOrgWithRoom(harness)
})
afterAll(() => harness.close())

test.each([
  ['absent', {}],
  ['empty', { rejected: {} }],
])('a config is delivered if `rejected` is %s', async (_, more) => {
  const device = await org.newDevice()
  await org.call('POST', `/endpoints/${device.id}/config`, { body: { nightMode: true } })
  const { version, config } = await device.next('config')
  await device.publish('config', { version, config, ...more })
  expect((await org.call('GET', `/endpoints/${device.id}/config/state`)).body).toMatchObject({
    state: 'DELIVERED',
    rejected: {},
  })
  await device.close()
})

test.each(['application/gzip', 'application/octet-stream', 'text/plain', 'no'])(
  'a bundle may have %s media type',
  async (type) => {
    const device = await org.newDevice()
    const supportId = await org.report([device])
    const { uploadUrl } = (await commandFor(device, supportId)).logs
    const headers = { ...proofOf(device), ...(type !== 'no' && { 'content-type': type }) }
    // A body of bytes gets no media type from fetch.
    const response = await fetch(uploadUrl, { method: 'PUT', headers, body: new Uint8Array(bundle) })
    expect(response.status).toBe(200)
    expect((await org.item(supportId)).state).toBe('UPLOADED')
    await device.close()
  },
)

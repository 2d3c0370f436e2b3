// A database that does not take writes for a while: what waits for a device waits on, and reaches it by itself.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { newDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { until } from '../support/program.ts'

/** Locks the rows that a write to operations needs, until the returned function is called. */
async function blockWrites({ place }: Harness): Promise<() => Promise<void>> {
  if (!place.databaseUrl) {
    const file = new Database(join(place.dataDir, 'roomkeeper.db'))
    file.exec('BEGIN IMMEDIATE')
    return async () => void file.close()
  }
  const client = new pg.Client({ connectionString: place.databaseUrl })
  await client.connect()
  await client.query('BEGIN; LOCK TABLE operations IN EXCLUSIVE MODE')
  return () => client.end()
}

test('an operation that could not be sent is tried again, without anybody asking [contract 8.operations]', async () => {
  const harness = await startHarness()
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const device = await newDevice(harness, org, { roomId, offline: true })
  await device.connect({ subscribe: false })
  const { body } = await org.call('POST', '/endpoints/send_message', {
    body: { message: 'Hello.', endpointIds: [device.id] },
  })
  const [{ id }] = body.operations
  const release = await blockWrites(harness)
  await device.client.subscribeAsync(`v1/${device.id}/down/#`, { qos: 1 })
  await until('sending has failed', () =>
    harness.logged.some((l) => String(l.msg).startsWith('could not send to a device')),
  )
  expect((await org.call('GET', `/operations/${id}`)).body.state).toBe('QUEUED')
  expect(device.received).toEqual([])
  await release()
  expect(await device.next('operation', 10_000)).toMatchObject({ id, message: 'Hello.' })
  await device.close()
})

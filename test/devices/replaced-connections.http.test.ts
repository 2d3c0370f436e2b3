// A device speaks over its latest connection only: what comes over an earlier one is not stored and not acknowledged.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'

let harness: Harness
let org: TestOrg
let room: number
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(() => harness.close())

/** A device whose row names another connection than the one that it has, as after a connect at another node. */
async function newReplaced(): Promise<TestDevice> {
  const device = await newDevice(harness, org, { roomId: room })
  onTestFinished(() => device.close())
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const next = kysely.updateTable('endpoints').set((e) => ({ connection: e('connection', '+', 1) }))
    await next.where('id', '=', device.id).execute()
  })
  return device
}

const everything = async (device: TestDevice) => {
  const { kysely } = harness.services.db.system
  return [
    await kysely.selectFrom('endpoints').selectAll().where('id', '=', device.id).execute(),
    await kysely.selectFrom('endpoint_configs').selectAll().where('endpoint_id', '=', device.id).execute(),
    await kysely.selectFrom('operations').selectAll().where('endpoint_id', '=', device.id).execute(),
  ]
}

test.each(['status', 'config', 'operation'] as const)(
  'a %s that comes over an earlier connection is not stored, and closes that connection [contract 8.presence]',
  async (kind) => {
    const device = await newReplaced()
    const { operations } = (
      await org.call('POST', '/endpoints/send_message', { body: { message: 'Hi.', endpointIds: [device.id] } })
    ).body
    const bodies = {
      status: { firmwareVersion: '7' },
      config: { version: 0, config: { brightness: 0.5 } },
      operation: { id: operations[0].id, state: 'ACKNOWLEDGED' },
    }
    const before = await everything(device)
    let isAcknowledged = false
    device.publish(kind, bodies[kind]).then(
      () => {
        isAcknowledged = true
      },
      () => {},
    )
    await device.ended()
    expect(isAcknowledged).toBe(false)
    expect(await everything(device)).toEqual(before)
  },
)

test('a command is not sent over an earlier connection', async () => {
  const device = await newReplaced()
  await org.call('POST', '/endpoints/send_message', { body: { message: 'Hi.', endpointIds: [device.id] } })
  const [command] = (await org.call('GET', `/endpoints/${device.id}/operations`)).body.operations
  // Over its next connection the device gets what was not sent.
  await device.connect()
  expect(await device.next('operation')).toMatchObject({ id: command.id })
  expect(device.received.filter(({ kind }) => kind === 'operation')).toHaveLength(1)
})

test('a device whose credential was replaced cannot say anything over an open connection', async () => {
  const device = await newDevice(harness, org, { roomId: room })
  onTestFinished(() => device.close())
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('credential_directory')
      .set({ hash: Buffer.from(device.id) })
      .where('endpoint_id', '=', device.id)
      .execute(),
  )
  device.publish('status', { firmwareVersion: '7' }).catch(() => {})
  await device.ended()
  const [[row] = []] = await everything(device)
  expect(row).toMatchObject({ status: '{}' })
})

// Rooms, devices, incidents and messages of an organisation, as the tests of the whole engine of incidents make them and wait for them.
import { expect } from 'vitest'
import { Receiver } from '../channels/receiver.ts'
import type { TestDevice } from '../devices/test-device.ts'
import type { Harness, Reply, TestOrg } from '../harness.ts'
import { until } from '../program.ts'

/** Returns the id of the room. */
export const newIncidentRoom = async (org: TestOrg, name: string, locationId?: number): Promise<number> =>
  (await org.call('POST', '/rooms', { body: { name, ...(locationId !== undefined && { locationId }) } })).body.id

const isConnected = async (org: TestOrg, device: TestDevice): Promise<boolean> =>
  (await org.call('GET', `/endpoints/${device.id}`)).body.connected

export async function cut(org: TestOrg, ...devices: TestDevice[]): Promise<void> {
  await Promise.all(devices.map((device) => device.close()))
  for (const device of devices) await until('it is disconnected', async () => !(await isConnected(org, device)))
}

/** Waits until the incidents of the organisation, newest first, are so. */
export const incidentsOnce = (org: TestOrg, what: string, isSo: (incidents: Reply['body'][]) => boolean) =>
  until(
    what,
    async () => {
      const { incidents } = (await org.call('GET', '/incidents?state=all')).body
      return isSo(incidents) ? (incidents as Reply['body'][]) : undefined
    },
    { everyMs: 100, timeoutMs: 10_000 },
  )

/** A channel of the organisation with a real receiver. */
export async function newReceiver(org: TestOrg): Promise<Receiver> {
  const receiver = await Receiver.start()
  const { status, text } = await org.call('POST', '/channels', {
    body: { name: 'Hook', kind: 'webhook', url: receiver.url },
  })
  expect(status, text).toBe(200)
  return receiver
}
export const typesOf = ({ received }: Receiver) => received.map(({ body }) => body.type)

/** The number of findings that are stored for the organisation. */
export const countFindings = async (harness: Harness, org: TestOrg) => {
  const { count } = await harness.services.db.system.kysely
    .selectFrom('findings')
    .select((e) => e.fn.countAll<number | string>().as('count'))
    .where('org', '=', org.org.key)
    .executeTakeFirstOrThrow()
  return { rows: Number(count) }
}

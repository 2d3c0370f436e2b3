// Bug reports in tests: an endpoint that is asked for its logs, and the upload as a device sends it.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { engine, type Harness, type Reply, type TestOrg } from '../harness.ts'
import { type NewDevice, newDevice, type TestDevice } from './test-device.ts'

export const bundle = gzipSync('09:15 all is well\n')

export interface OrgWithRoom extends TestOrg {
  newDevice(wanted?: Omit<NewDevice, 'roomId'>): Promise<TestDevice>
  /** Asks for the logs of devices; gives back the support ID. */
  report(devices: readonly Pick<TestDevice, 'id'>[], query?: string): Promise<string>
  /** The entry of the report's only or first endpoint. */
  item(supportId: string): Promise<Reply['body']>
}

export async function newOrgWithRoom(harness: Harness): Promise<OrgWithRoom> {
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  return {
    ...org,
    newDevice: (wanted = {}) => newDevice(harness, org, { roomId, ...wanted }),
    async report(devices, query = '') {
      const reply = await org.call('POST', `/endpoints/generate_bug_report${query}`, { body: devices.map((d) => d.id) })
      expect(reply.status, reply.text).toBe(200)
      return reply.body.supportId
    },
    item: async (supportId) => (await org.call('GET', `/bug_reports/${supportId}`)).body.endpoints[0],
  }
}

/** The command for this report with an upload address other than the given one: a command may be sent twice. */
export async function commandFor(device: TestDevice, supportId: string, other?: string): Promise<Reply['body']> {
  for (;;) {
    const command = await device.next('operation')
    if (command.logs?.supportId === supportId && command.logs.uploadUrl !== other) return command
  }
}

export const proofOf = ({ id, credential }: Pick<TestDevice, 'id' | 'credential'>) => ({
  authorization: `Basic ${btoa(`${id}:${credential}`)}`,
})

/** Sends a bundle to the address that the device was given. */
export const put = (harness: Harness, device: TestDevice, url: string, bytes: Buffer = bundle, method = 'PUT') =>
  harness.call(method, new URL(url).pathname, {
    raw: bytes,
    headers: { ...proofOf(device), 'content-type': 'application/gzip' },
  })

/** Everything that lies in the folder of bundles, below the organisation's folder. */
export function filesInFolder(harness: Harness, { org }: TestOrg): string[] {
  try {
    return readdirSync(join(harness.place.dataDir, 'bundles', String(org.key)), { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
}

/** The uploads that are stored, as report/id.log.gz; one that does not count (yet) ends with .part instead. */
export async function storedUploads(harness: Harness, org: TestOrg): Promise<string[]> {
  if (engine === 'sqlite') return filesInFolder(harness, org).filter((path) => path.includes('/'))
  expect(filesInFolder(harness, org)).toEqual([])
  const uploads = harness.services.db.system.kysely
    .selectFrom('bundle_uploads as u')
    .leftJoin('bug_report_items as i', 'i.upload_id', 'u.id')
    .select(['u.report_id', 'u.id', 'i.upload_id'])
    .where('u.org', '=', org.org.key)
  return (await uploads.execute()).map((u) => `${u.report_id}/${u.id}${u.upload_id === null ? '.part' : '.log.gz'}`)
}

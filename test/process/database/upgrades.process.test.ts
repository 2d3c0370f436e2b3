// Today's program on the database of each earlier version: it migrates, answers every read, and knows devices and people.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../../src/contract/operation.ts'
import { type OperationId, operationList, operations } from '../../../src/contract/operations.ts'
import { programMigrations } from '../../../src/server/db/migrate.ts'
import type { FixtureContent } from '../../../tools/fixtures/fill-fixture.ts'
import { calls, pathFor } from '../../support/contract/calls.ts'
import { TestDevice } from '../../support/devices/test-device.ts'
import type { Fixture } from '../../support/fixture.ts'
import { engine, newPlace, quiet, type Reply, send, TestClock } from '../../support/harness.ts'
import { type ServiceGroup, startServices } from '../../support/nodes/service-group.ts'
import { sessionHeaders } from '../../support/person.ts'
import { Site } from '../../support/program.ts'

const fixtures = join(import.meta.dirname, '../../fixtures')
/** Version 0.1.0 has a data folder only, and no people who sign in. */
type Content = Omit<FixtureContent, 'person'> &
  Partial<Pick<FixtureContent, 'person'>> & { readonly secretKey?: string }
const contentOf = (version: string): Content | undefined =>
  JSON.parse(readFileSync(join(fixtures, version, 'content.json'), 'utf8'))[engine]
const versions = readdirSync(fixtures).filter((name) => name !== 'README.md' && contentOf(name) !== undefined)

/** The content of an earlier version's database, in a place of its own. */
async function restore(version: string): Promise<{ site: Site; content: Content }> {
  const file = (name: string) => join(fixtures, version, name)
  const content = contentOf(version) as Content
  const { place, remove } = await newPlace()
  if (place.databaseUrl === undefined) {
    execFileSync('tar', ['-xzf', file('data-folder.tar.gz'), '-C', place.dataDir])
  } else {
    writeFileSync(join(place.dataDir, 'secret.key'), `${content.secretKey}\n`, { mode: 0o600 })
    const client = new pg.Client({ connectionString: place.databaseUrl })
    await client.connect()
    await client.query(gunzipSync(readFileSync(file('postgres.sql.gz'))).toString())
    await client.end()
  }
  return { site: new Site(place, remove), content }
}

test('there are fixtures', () => {
  expect(versions).toEqual(expect.arrayContaining(engine === 'sqlite' ? ['0.1.0', '0.2.0'] : ['0.2.0']))
})

describe.each(versions)('the database of version %s', (version) => {
  const clock = new TestClock()
  let site: Site
  let content: Content
  let service: ServiceGroup

  beforeAll(async () => {
    ;({ site, content } = await restore(version))
    // Nothing has become too old since that version stopped.
    clock.advance(Date.parse(content.stoppedAt) + 60_000 - Date.now())
    const { dataDir, databaseUrl } = site
    const options = { ...quiet, dataDir, ...(databaseUrl !== undefined && { databaseUrl }) }
    service = await startServices(options, pino({ level: 'silent' }), [clock])
  })
  afterAll(async () => {
    await service?.close()
    await site?.close()
  })

  /** Only reads are called, which need no other ids. */
  const known = () =>
    Object.assign({ jobs: {}, recurringJobs: {} }, content.ids, {
      id: content.org,
      person: content.person ?? {},
      clock,
    }) as unknown as Fixture
  const read = (id: OperationId, input: object = {}): Promise<Reply> => {
    const { person }: Operation = operations[id]
    const path = pathFor(known(), id, content.org, { ...input })
    const own = content.person && ({ key: false, headers: sessionHeaders(service, content.person) } as const)
    return send(service.url, 'GET', path, person && own ? own : { key: content.key })
  }

  test('is migrated', async () => {
    const applied = (await site.sql('select name from migrations order by name')).map(({ name }) => name)
    expect(applied).toEqual(Object.keys(programMigrations.statements).sort())
  })

  test('answers every read, for keys and for people', async () => {
    // A stream sends its first event when something happens.
    const hasPerson = content.person !== undefined
    const reads = operationList.filter(
      ({ method, stream, person }) => method === 'GET' && !stream && (hasPerson || !person),
    )
    const isKnown = (value: unknown): boolean => value !== undefined
    expect(reads.length).toBeGreaterThan(40)
    for (const { id } of reads) {
      const isNewer = !content.operations.includes(id)
      // A newer operation may read something that the earlier version did not have.
      if (isNewer && !Object.values(calls[id](known())).every(isKnown)) continue
      const reply = await read(id)
      // Version 0.1.0 stored no versions of profiles: the first change of a profile stores the one before it.
      const isAbsent = version === '0.1.0' && id === 'profileVersionsGet'
      expect(reply.status, `${id}: ${reply.text}`).toBe(isAbsent ? 404 : 200)
    }
  })

  test('answers with what the earlier version had stored', async () => {
    const compared = Object.entries(content.answers)
    expect(compared.length).toBeGreaterThan(5)
    for (const [id, { input, body }] of compared) {
      expect((await read(id as OperationId, input)).body, id).toMatchObject(body)
    }
  })

  test.runIf(version === '0.2.0')('gives the air limits of all servers to its organisation', async () => {
    const airLimits = { co2: { max: 800 }, voc: {}, temp: { min: 19, max: 25 }, humidity: { min: 25, max: 65 } }
    expect((await read('orgsGet')).body).toMatchObject({ timezone: 'Europe/Oslo', airLimits })
  })

  test('lets a device connect with its credential and report', async () => {
    const { endpointId, credential } = content.device
    const device = new TestDevice(service.mqttPort, '', '', { endpointId, credential, connect: [] })
    await device.connect()
    await device.publish('sample', { samples: [{ timestamp: Math.floor(clock.now() / 1000), people: 7 }] })
    expect((await read('endpointsSensorData', { id: endpointId })).text).toContain('"people":7')
    expect((await read('endpointsGet', { id: endpointId })).body).toMatchObject({ connected: true })
    await device.close()
  })

  test('takes writes, and its audit log is whole from the first entry on', async () => {
    const write = { key: content.key, body: { name: 'Africa' } }
    expect((await send(service.url, 'POST', `/v1/orgs/${content.org}/regions`, write)).status).toBe(200)
    const fields = { externalId: 'CMDB-1', fields: { wall: 'B2' } }
    const path = `/v1/orgs/${content.org}/endpoints/${content.device.endpointId}`
    const changed = await send(service.url, 'PUT', path, { key: content.key, body: fields })
    expect(changed.body, changed.text).toMatchObject(fields)
    const heads = content.auditHeads.flatMap((head) => ['--expect', head])
    expect(await site.run('audit', 'verify', ...heads)).toMatchObject({ code: 0, stderr: '' })
    expect(await site.run('check')).toMatchObject({ code: 0, stderr: '' })
  })
})

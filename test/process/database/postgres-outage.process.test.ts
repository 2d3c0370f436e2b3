// A PostgreSQL that stops answering: the service says so in time, lets no request hang, and goes on by itself when it answers again.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { verifyChain } from '../../../src/server/journal/audit/chain.ts'
import { countCpuWaits } from '../../support/cpu-time.ts'
import { freezableCluster, frozen, swallowed, type TestOutage } from '../../support/database/outages.ts'
import { storedTimes } from '../../support/database/stored-samples.ts'
import { newDevice } from '../../support/devices/test-device.ts'
import { engine, type Harness, type Reply, startHarness, type TestOrg } from '../../support/harness.ts'
import { isFullForm } from '../../support/long-form.ts'
import { until } from '../../support/program.ts'
import { shortenLimits } from '../../support/short-limits.ts'

/** The server gives up a connection without an answer after 3.6 s instead of 10. */
const { limits } = shortenLimits(0.2)
/** The promises: /readyz says it, every request is answered, everything goes on. In milliseconds. */
const noticedWithinMs = 2000
const answeredWithinMs = limits.databaseAnswerMs + 2000
const resumedWithinMs = 5000

interface Timed extends Reply {
  readonly ms: number
}

async function timed(ask: () => Promise<Reply>): Promise<Timed> {
  const begun = performance.now()
  const cpuWaitMs = countCpuWaits()
  return { ...(await ask()), ms: performance.now() - begun - cpuWaitMs() }
}

async function houseIn({ databaseUrl }: TestOutage) {
  const harness = await startHarness({ databaseUrl }, { limits })
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body
  const device = await newDevice(harness, org, { roomId: room.id })
  // A message may still wait for its acknowledgement.
  onTestFinished(() => device.drop())
  const offline = await newDevice(harness, org, { roomId: room.id, offline: true })
  return { harness, org, room, device, offline }
}

const createRegion = (org: TestOrg, name: string) => org.call('POST', '/regions', { body: { name } })
const regionNames = async (org: TestOrg): Promise<string[]> =>
  (await org.call('GET', '/regions')).body.regions.map(({ name }: { name: string }) => name)

const isUnchanged = ({ message }: { message: string }) => message.includes('nothing was changed')

/** A 409 of a write, as [contract 2.5] allows it. */
const abortedAfterwards = { hasEnded: true, code: 'ABORTED', isUnchanged: true }

const isReady = async (harness: Harness) => (await harness.call('GET', '/readyz')).status === 200

describe.runIf(engine === 'postgres')('PostgreSQL', () => {
  let cluster: Awaited<ReturnType<typeof freezableCluster>>
  beforeAll(async () => {
    cluster = await freezableCluster()
  })
  afterAll(() => cluster.stop())

  const outages: readonly [string, () => Promise<TestOutage>][] = [
    ['is frozen', () => frozen(cluster)],
    ['is behind a network that swallows packets', () => swallowed(cluster)],
  ]
  // In the short form nodes/situations-outage.process.test.ts is about a network that swallows packets.
  test.each(isFullForm ? outages : outages.slice(0, 1))(
    'that %s: /readyz is 503 in time, no request hangs, nothing cached is served, and all goes on [contract 2.5]',
    async (state, make) => {
      const outage = await make()
      const { harness, org, room, device, offline } = await houseIn(outage)
      const start = Math.floor(Date.now() / 1000) - 1000
      await device.publish('sample', { samples: [{ timestamp: start, co2: 400 }] })
      const remembered = [`/endpoints/${device.id}`, '/endpoints', '/endpoints/sensor', '/rooms/sensor']
      for (const path of remembered) expect((await org.call('GET', path)).status).toBe(200)

      // Writers that do not stop: what was acknowledged to them must be there in the end.
      const acknowledged: string[] = []
      const refusedUnchanged: string[] = []
      let isWriting = true
      let hasEnded = false
      const answerMs: number[] = []
      onTestFinished(() => {
        isWriting = false
      })
      const writer = async (name: string) => {
        for (let i = 0; isWriting; i++) {
          const { status, body, ms } = await timed(() => createRegion(org, `${name}-${i}`))
          expect(ms).toBeLessThan(answeredWithinMs)
          answerMs.push(ms)
          if (status === 200) acknowledged.push(`${name}-${i}`)
          // PostgreSQL may not yet have ended a session that the server gave up: a write that waits for its locks is a 409, after the outage only.
          else if (status === 409)
            expect({ hasEnded, code: body.code, isUnchanged: isUnchanged(body) }).toEqual(abortedAfterwards)
          else expect({ status, code: body.code }).toEqual({ status: 503, code: 'UNAVAILABLE' })
          if (status !== 200 && isUnchanged(body)) refusedUnchanged.push(`${name}-${i}`)
        }
      }
      const writers = Promise.all(['a', 'b', 'c'].map(writer))
      await until('writers write', () => acknowledged.length > 5)
      // With a fixed clock no cached caller expires because of its age.
      harness.clock.fix(harness.clock.now())
      for (const path of remembered) expect((await org.call('GET', path)).status).toBe(200)

      outage.begin()
      const begun = performance.now()
      const waitedSinceMs = countCpuWaits()
      const underWay = Promise.all([
        timed(() => org.call('PUT', `/rooms/${room.id}`, { body: { name: 'Renamed' } })),
        ...Array.from({ length: 15 }, () => timed(() => org.call('GET', '/regions'))),
        ...Array.from({ length: 15 }, (_, i) => timed(() => createRegion(org, `under way ${i}`))),
      ])
      let isAcknowledged = false
      const sample = device.publish('sample', { samples: [{ timestamp: start + 60, co2: 500 }] })
      sample.then(
        () => {
          isAcknowledged = true
        },
        () => {},
      )
      await until('/readyz is 503', async () => {
        const { status, ms } = await timed(() => harness.call('GET', '/readyz'))
        expect(ms, '/readyz does not wait').toBeLessThan(1000)
        return status === 503
      })
      const noticedMs = performance.now() - begun - waitedSinceMs()
      expect(noticedMs).toBeLessThan(noticedWithinMs)

      const paths = [...remembered, '/regions', `/rooms/${room.id}`, '/nowhere']
      for (const { status, body, ms } of await Promise.all(paths.map((path) => timed(() => org.call('GET', path))))) {
        expect({ status, code: body.code }).toEqual({ status: 503, code: 'UNAVAILABLE' })
        expect(ms, 'refused at once').toBeLessThan(1000)
      }
      expect((await harness.call('GET', '/livez')).status).toBe(200)
      expect((await fetch(`${harness.url}/`)).status, "the console's files").toBe(200)
      expect((await harness.call('GET', '/v1/orgs/nobody/regions', { key: 'nonsense' })).status).toBe(401)
      const other = await connectAgain(offline)
      expect(other, 'refused for now [MQTT CONNACK 3]').toMatchObject({ code: 3 })

      for (const [i, { status, body, ms }] of (await underWay).entries()) {
        expect({ status, code: body.code }).toEqual({ status: 503, code: 'UNAVAILABLE' })
        expect(ms).toBeLessThan(answeredWithinMs)
        answerMs.push(ms)
        if (i >= 16 && isUnchanged(body)) refusedUnchanged.push(`under way ${i - 16}`)
      }
      expect(isAcknowledged, 'a sample that is not stored is not acknowledged').toBe(false)

      hasEnded = true
      outage.end()
      const ended = performance.now()
      const waitedAfterMs = countCpuWaits()
      await until('it is ready', () => isReady(harness))
      expect((await createRegion(org, 'after')).status).toBe(200)
      for (const path of paths) expect((await org.call('GET', path)).status).toBe(path === '/nowhere' ? 404 : 200)
      const resumedMs = performance.now() - ended - waitedAfterMs()
      expect(resumedMs).toBeLessThan(resumedWithinMs)
      isWriting = false
      await writers
      const figures = { noticedMs, 'longest answer ms': Math.max(...answerMs), resumedMs }
      process.stdout.write(
        `PostgreSQL ${state}: ${JSON.stringify(figures, (_, value) => (value > 0 ? Math.round(value) : value))}\n`,
      )

      const names = await regionNames(org)
      expect(names).toEqual(expect.arrayContaining([...acknowledged, 'after']))
      expect(refusedUnchanged.length).toBeGreaterThan(0)
      expect(names.filter((name) => refusedUnchanged.includes(name))).toEqual([])
      expect(new Set(names).size, 'none is there twice').toBe(names.length)
      expect(
        (await verifyChain(harness.services.db.forOrg(org.org.key), harness.services.secrets, org.org, [])).problem,
      ).toBeUndefined()
      const { name } = (await org.call('GET', `/rooms/${room.id}`)).body
      expect((await org.call('GET', `/endpoints/${device.id}`)).body.roomName, 'nothing old is remembered').toBe(name)

      await sample
      expect(await storedTimes(harness, org, device.id)).toEqual([start, start + 60])
      const { endpoints } = (await org.call('GET', '/endpoints')).body
      expect(endpoints).toContainEqual(expect.objectContaining({ id: device.id, connected: true, roomName: name }))
    },
    120_000,
  )
})

/** The return code that a connecting device gets. */
const connectAgain = (device: { connect(): Promise<void> }): Promise<unknown> =>
  device.connect().then(
    () => undefined,
    (error) => error,
  )

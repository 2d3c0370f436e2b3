// Reads at several nodes: a read sees every write that any node acknowledged before it began, whatever happens to messages.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type CacheNode, startCacheNode } from '../../../../test/support/nodes/cache-node.ts'
import { endpointCount, show, ThreeNodes, updateStatusText } from '../../../../test/support/nodes/three-nodes.ts'
import { never, promptly } from '../../../../test/support/nodes/unreliable-bus.ts'
import { until } from '../../../../test/support/program.ts'
import type { ReadyAnswer } from '../../context/answers.ts'
import { updateLeft } from '../store.ts'

let cluster: ThreeNodes
beforeAll(async () => {
  cluster = await ThreeNodes.start()
})
afterAll(() => cluster.close())
beforeEach(async () => {
  cluster.bus.delivery = promptly
  await cluster.newOrg()
})

const [first, second] = [() => cluster.nodes[0] as CacheNode, () => cluster.nodes[1] as CacheNode]
const [anId, otherId] = [() => cluster.ids[0] as string, () => cluster.ids[1] as string]
const get = (node: CacheNode, id: string) => cluster.get(node, id)
const report = (node: CacheNode, id: string, firmwareVersion: string) => cluster.report(node, id, firmwareVersion)
const orgKey = () => cluster.org.org.key

/** Reads at a node until an answer comes from its cache: the first look at an organisation drops what was read before it. */
async function cacheAt(node: CacheNode, id: string): Promise<ReadyAnswer> {
  for (let n = 0; n < 5; n++) {
    const answer = await get(node, id)
    if ((await get(node, id)) === answer) return answer
  }
  throw new Error('the answer is not cached')
}

describe('without any message', () => {
  beforeEach(() => {
    cluster.bus.delivery = never
  })

  test('a read at another node sees an unaudited write', async () => {
    await cacheAt(second(), anId())
    for (const version of ['1', '2', '3']) {
      await report(first(), anId(), version)
      expect(show(await get(second(), anId())).firmwareVersion).toBe(version)
    }
  })

  test('a read at another node sees an audited write, in an endpoint, in the list and in the bulk answers', async () => {
    const room = async () => (await second().latest.plan(orgKey())).endpoints.find(({ id }) => id === anId())?.room?.id
    await cacheAt(second(), anId())
    expect(await room()).toBe(1)
    await cluster.rename(first(), 'Fjord')
    expect(show(await get(second(), anId())).roomName).toBe('Fjord')
    await cluster.rename(first(), 'Fuji')
    const endpoints = await cluster.list(second())
    expect(endpoints.map((e: { roomName: string }) => e.roomName)).toEqual(Array(endpointCount).fill('Fuji'))
    await cluster.org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [anId()], roomId: 2 } })
    expect(await room()).toBe(2)
  })

  test('a read sees the last writes of a node that ended, also of one that started since the last read', async () => {
    await cacheAt(second(), anId())
    const brief = await startCacheNode(cluster.harness, cluster.bus)
    await report(brief, anId(), '1')
    await brief.close()
    expect(show(await get(second(), anId())).firmwareVersion).toBe('1')
    const known = await startCacheNode(cluster.harness, cluster.bus)
    await report(known, anId(), '2')
    await cacheAt(second(), anId())
    await report(known, anId(), '3')
    await known.close()
    expect(show(await get(second(), anId())).firmwareVersion).toBe('3')
  })

  test('a read sees a write whose outcome its own node does not know', async () => {
    await cacheAt(first(), anId())
    // The commit is made, but the node does not count it: this is what a connection that is lost during the commit leaves.
    const { db } = first().services
    const { fence } = db
    db.fence = undefined
    await report(first(), anId(), '1')
    db.fence = fence
    await cluster.harness.services.db.schema
      .updateTable('nodes')
      .set((e) => ({ changes: e('changes', '+', 1) }))
      .where('id', '=', first().id)
      .execute()
    fence?.noteUncertain()
    await cacheAt(second(), anId())
    await report(first(), anId(), '2')
    for (const node of cluster.nodes) expect(show(await get(node, anId())).firmwareVersion).toBe('2')
  })
})

describe('with messages', () => {
  const delivered = () => until('all messages are delivered', () => cluster.bus.underWay === 0)

  test('an answer stays cached at another node until one of its own rows is written', async () => {
    const [cached, other] = [await cacheAt(second(), anId()), await cacheAt(second(), otherId())]
    await report(first(), anId(), '1')
    await delivered()
    expect(show(await get(second(), anId())).firmwareVersion).toBe('1')
    expect(await get(second(), otherId())).toBe(other)
    expect(await get(second(), anId())).not.toBe(cached)
    await cluster.org.call('POST', '/regions', { body: { name: 'Nordic' } })
    await cluster.rename(first(), 'Fjord')
    expect(show(await get(second(), otherId())).roomName).toBe('Fjord')
  })

  test('a sensor sample or another write to a table without listeners needs no message', async () => {
    await cacheAt(second(), anId())
    const sent = cluster.bus.sent.length
    const put = first().services.db.systemTransaction((tx) =>
      tx.kysely.updateTable('samples_latest').set({ people: 1 }).where('org', '=', -1).execute(),
    )
    await put
    expect(cluster.bus.sent.length).toBe(sent)
  })

  test.each([
    ['a node', (version: string) => report(first(), anId(), version)],
    ['an organisation', (version: string) => cluster.rename(first(), version)],
  ])(
    'a commit of %s that a node of another version tells of, which watches other tables, empties the caches',
    async (_, write) => {
      /** Writes at the first node, and delivers its message without rows, as if it did not watch the table. */
      const hearWithoutRows = async (version: string, changed: { watched?: string }) => {
        cluster.bus.delivery = never
        const sentBefore = cluster.bus.sent.length
        await write(version)
        await until('the message is sent', () => cluster.bus.sent.length > sentBefore)
        const { kind, body, nodeId } = cluster.bus.sent.at(-1) as (typeof cluster.bus.sent)[number]
        expect(kind).toBe('written')
        second().bus.receive('written', { ...(body as object), rows: [], ...changed }, { nodeId, isSelf: false })
      }
      const cached = await cacheAt(second(), otherId())
      await hearWithoutRows('1', {})
      expect(await get(second(), otherId()), 'the rows of an equal node are all that changed').toBe(cached)
      await hearWithoutRows('2', { watched: 'endpoints' })
      expect(await get(second(), otherId())).not.toBe(cached)
    },
  )

  test('a message that is late is waited for, and a lost one costs 20 ms and the cached answers', async () => {
    const other = await cacheAt(second(), otherId())
    cluster.bus.delivery = () => 8
    await report(first(), anId(), '1')
    expect(await get(second(), otherId())).toBe(other)
    cluster.bus.delivery = never
    await report(first(), anId(), '2')
    expect(await get(second(), otherId())).not.toBe(other)
    cluster.bus.delivery = promptly
    const again = await cacheAt(second(), otherId())
    await report(first(), anId(), '3')
    await delivered()
    expect(await get(second(), otherId())).toBe(again)
  })

  test('a node whose session for messages was lost drops its caches', async () => {
    const cached = await cacheAt(second(), anId())
    second().bus.lose()
    expect(await get(second(), anId())).not.toBe(cached)
  })

  test('the number of a commit is the one in its row, also after commits that failed', async () => {
    const changes = async () =>
      (
        await cluster.harness.services.db.system.kysely
          .selectFrom('nodes')
          .select('changes')
          .where('id', '=', first().id)
          .executeTakeFirstOrThrow()
      ).changes
    const lastSent = () =>
      cluster.bus.sent.findLast(({ nodeId, body }) => nodeId === first().id && 'nodeId' in (body as object))
    for (let n = 0; n < 3; n++) {
      await report(first(), anId(), String(n))
      expect(lastSent()?.body).toMatchObject({ nodeId: first().id, number: await changes() })
      const failing = first()
        .services.db.forOrg(orgKey())
        .telemetry(async (tx) => {
          await updateStatusText(tx, { id: anId(), status: 'lost' })
          throw new Error('mine')
        })
      await expect(failing).rejects.toThrow('mine')
    }
  })

  test('a node that is not up can commit nothing', async () => {
    const fenced = await startCacheNode(cluster.harness, cluster.bus)
    await report(fenced, anId(), '1')
    await cluster.harness.services.db.systemTransaction((tx) => updateLeft(tx, { id: fenced.id, at: 1 }))
    await expect(report(fenced, anId(), '2')).rejects.toThrow(/declared this one dead/)
    expect(show(await get(second(), anId())).firmwareVersion).toBe('1')
    await fenced.close()
  })

  test('a sample that another node stored is in the bulk answers within a second', async () => {
    const people = async () => [...(await second().latest.samples(orgKey())).values()].map(({ row }) => row.people)
    expect(await people()).toEqual([])
    await cluster.harness.services.db.schema
      .insertInto('samples_latest')
      .values({ org: orgKey(), endpoint: 1, timestamp: 1_790_000_000, people: 7 } as never)
      .execute()
    const acknowledged = performance.now()
    while (performance.now() - acknowledged < 1000) await sleep(20)
    expect(await people()).toEqual([7])
  })
})

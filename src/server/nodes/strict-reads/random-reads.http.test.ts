// Random reads and writes at random nodes, and the check that no read was stale.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isFullForm } from '../../../../test/support/long-form.ts'
import type { CacheNode } from '../../../../test/support/nodes/cache-node.ts'
import { show, ThreeNodes } from '../../../../test/support/nodes/three-nodes.ts'
import { type BusDelivery, never, promptly } from '../../../../test/support/nodes/unreliable-bus.ts'
import { staleReads, type ValueCall } from '../../../../test/support/nodes/value-history.ts'

let cluster: ThreeNodes
beforeAll(async () => {
  cluster = await ThreeNodes.start()
})
afterAll(() => cluster.close())

/** A slow machine goes on until there are more than these. */
const minCounts = { read: 100, write: 20 }

/** Two keys for each endpoint: its status, written without an audit entry, and the name of its room, which is audited. */
async function readAndWrite(durationMs: number): Promise<ValueCall[]> {
  await cluster.newOrg()
  const { nodes, ids } = cluster
  const history: ValueCall[] = []
  const until = performance.now() + durationMs
  const counts = { read: 0, write: 0 }
  const isEnough = (kind: ValueCall['kind']) => performance.now() >= until && counts[kind] > minCounts[kind]
  const anyNode = () => nodes[Math.floor(Math.random() * nodes.length)] as CacheNode
  const note = (kind: ValueCall['kind'], key: string, value: number, begin: number) => {
    counts[kind]++
    history.push({ kind, key, value, begin, end: performance.now() })
  }
  const write = async (key: string, put: (node: CacheNode, value: string) => Promise<unknown>) => {
    for (let value = 1; !isEnough('write'); value++) {
      const begin = performance.now()
      await put(anyNode(), String(value))
      note('write', key, value, begin)
      await sleep(Math.random() * 10)
    }
  }
  const noteShown = (begin: number, shown: { id: string; firmwareVersion: string; roomName: string }) => {
    note('read', shown.id, Number(shown.firmwareVersion), begin)
    note('read', 'room', Number(shown.roomName), begin)
  }
  const read = async () => {
    while (!isEnough('read')) {
      const begin = performance.now()
      if (Math.random() < 0.2) {
        for (const shown of await cluster.list(anyNode())) noteShown(begin, shown)
      } else {
        noteShown(begin, show(await cluster.get(anyNode(), ids[Math.floor(Math.random() * ids.length)] as string)))
      }
      await sleep(Math.random() * 3)
    }
  }
  await Promise.all([
    ...ids.slice(0, 3).map((id) => write(id, (node, value) => cluster.report(node, id, value))),
    write('room', (node, value) => cluster.rename(node, value)),
    ...Array.from({ length: 6 }, () => read()),
  ])
  return history
}

const badLuck: BusDelivery = () => (Math.random() < 0.2 ? undefined : Math.random() * 30)

test.each([
  ['all messages arrive', promptly],
  ['all messages are lost', never],
  ['messages are lost, late and in any order', badLuck],
])('reads and writes at random nodes are strict while %s', { timeout: 30_000 }, async (_, delivery) => {
  cluster.bus.delivery = delivery
  const history = await readAndWrite(isFullForm ? 2500 : 800)
  expect(staleReads(history)).toEqual([])
})

test('the same reads without the look are not strict, and the check finds that', async () => {
  cluster.bus.delivery = () => 25
  const confirms = cluster.nodes.map(({ services: { reads } }) => {
    const { confirm } = reads
    reads.confirm = () => undefined
    return () => {
      reads.confirm = confirm
    }
  })
  const history = await readAndWrite(1500)
  for (const restore of confirms) restore()
  expect(staleReads(history).length).toBeGreaterThan(0)
})

test.each<[string, readonly (readonly [ValueCall['kind'], value: number, begin: number, end: number])[], number]>([
  [
    'a read that overlaps a write may show it or not',
    [
      ['write', 1, 0, 10],
      ['read', 1, 1, 2],
      ['read', 1, 3, 4],
    ],
    0,
  ],
  [
    'a read misses a write that was acknowledged',
    [
      ['write', 1, 0, 1],
      ['read', 0, 2, 3],
    ],
    1,
  ],
  [
    'a read misses a value that an earlier one showed',
    [
      ['write', 1, 0, 10],
      ['read', 1, 1, 2],
      ['read', 0, 3, 4],
    ],
    1,
  ],
  [
    'a read shows a value that nobody had begun to write',
    [
      ['read', 1, 0, 1],
      ['write', 1, 2, 3],
    ],
    1,
  ],
])('the check judges a history: %s', (_, calls, problems) => {
  const history = calls.map(([kind, value, begin, end]) => ({ kind, key: 'a', value, begin, end }))
  expect(staleReads(history)).toHaveLength(problems)
})

// Scheduled tasks of several nodes: each has one holder, and a node that lost a task can commit nothing for it.
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { engine, newPlace } from '../../../test/support/harness.ts'
import { SharedTestBus } from '../../../test/support/nodes/shared-bus.ts'
import { until } from '../../../test/support/program.ts'
import { makeLog } from '../core/log.ts'
import type { Database } from '../db/db.ts'
import { openDatabase } from '../db/open.ts'
import { systemWrite } from '../db/system.ts'
import { insertNode } from './store.ts'
import { type ClusterTask, TaskHolders, TaskMoved } from './task-holders.ts'

let place: Awaited<ReturnType<typeof newPlace>>
let first: Database
/** On PostgreSQL, the connections of another process. */
let second: Database
const stops: (() => void)[] = []
beforeAll(async () => {
  place = await newPlace({ hasTables: true })
  first = await open()
  second = engine === 'sqlite' ? first : await open()
})
afterEach(async () => {
  for (const stop of stops.splice(0)) stop()
  await first.systemTransaction(async ({ kysely }) => {
    await kysely.deleteFrom('tasks').execute()
    await kysely.updateTable('nodes').set({ state: 'left' }).where('name', 'like', 'test%').execute()
  })
})
afterAll(async () => {
  if (engine === 'postgres') await second.close()
  await first.close()
  await place.remove()
})

const open = async () => (await openDatabase(place.place, { isLocked: true, mustExist: false, onError() {} })).db

const parts = [11, 12, 13, 14, 15]
const tasks: readonly ClusterTask[] = [{ name: 'sweep' }, { name: 'roll', listParts: async () => parts }]

async function newNode(db: Database, shared: SharedTestBus, name: string) {
  const insert = async () => {
    const row = await db.systemTransaction((tx) =>
      insertNode(tx, { name: `test ${name}`, process: name, version: '0', at: 0 }),
    )
    return row?.id as number
  }
  const replaced: (() => void)[] = []
  const disconnected: (() => void)[] = []
  const node = {
    id: await insert(),
    onReplaced: (listener: () => void) => void replaced.push(listener),
    onDisconnected: (listener: () => void) => void disconnected.push(listener),
  }
  const bus = shared.connect(() => node.id)
  const holders = new TaskHolders({ db, node, bus, log: makeLog('silent') }, tasks)
  holders.start()
  stops.push(() => holders.stop())
  await holders.refresh()
  return {
    node,
    bus,
    holders,
    end: (state: 'left' | 'dead') =>
      db.systemTransaction(async ({ kysely }) => {
        await kysely.updateTable('nodes').set({ state }).where('id', '=', node.id).execute()
      }),
    replace: async () => {
      node.id = await insert()
      for (const listener of replaced) listener()
    },
    cut: () => {
      bus.cut()
      for (const listener of disconnected) listener()
    },
    parts: () => parts.filter((part) => holders.find('roll', part)),
    hasSweep: () => holders.find('sweep') !== undefined,
  }
}

async function twoNodes() {
  const shared = new SharedTestBus(() => 0)
  const a = await newNode(first, shared, 'a')
  const before = a.parts()
  const b = await newNode(second, shared, 'b')
  return { a, b, before, shared }
}

const mark = systemWrite((db, p: { value: string }) =>
  db
    .insertInto('settings')
    .values({ name: 'test mark', value: p.value })
    .onConflict((c) => c.column('name').doUpdateSet({ value: p.value })),
)
const marked = async () => {
  const { kysely } = first.system
  return (await kysely.selectFrom('settings').select('value').where('name', '=', 'test mark').executeTakeFirst())?.value
}

test('a task has one holder, and the nodes share the parts of a task that is shared out', async () => {
  const { a, b, before } = await twoNodes()
  expect(before).toEqual(parts)
  await a.holders.refresh()
  await until('the second node has its share', () => b.parts().length === 2)
  expect([a.hasSweep(), b.hasSweep()]).toEqual([true, false])
  expect(a.parts()).toHaveLength(3)
  expect([...a.parts(), ...b.parts()].sort()).toEqual(parts)
})

test('a new part of a task is taken as soon as a node asks for it', async () => {
  // The refresh every five seconds would find the part too.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { a, b } = await twoNodes()
  await a.holders.refresh()
  await until('the second node has its share', () => b.parts().length === 2)
  parts.push(16)
  onTestFinished(() => void parts.pop())
  await until('one of them has it', () => a.parts().length + b.parts().length === 6)
  expect([...a.parts(), ...b.parts()].sort()).toEqual([...parts].sort())
})

test.each(['left', 'dead'] as const)('the tasks of a node that is %s go to another one', async (state) => {
  const { a, b } = await twoNodes()
  await a.holders.refresh()
  await until('the second node has its share', () => b.parts().length === 2)
  await b.holders.refresh()
  expect(b.hasSweep(), 'while the other is up').toBe(false)
  await a.end(state)
  b.bus.send('nodeEnded', { nodeId: a.node.id })
  await until('the second node has all tasks', () => b.hasSweep() && b.parts().length === 5)
})

test('a node that stops lets others take its tasks before it leaves', async () => {
  const { a, b } = await twoNodes()
  const sweep = a.holders.find('sweep')
  a.holders.stop()
  expect(sweep?.signal.aborted).toBe(true)
  expect(a.hasSweep()).toBe(false)
  await a.holders.release()
  await until('the second node has the task', () => b.hasSweep())
})

test('a commit of a task fails once another node holds it, and changes nothing', async () => {
  const { a, b } = await twoNodes()
  const sweep = a.holders.find('sweep')
  const commit = (value: string) => sweep?.db.systemTransaction((tx) => mark(tx, { value }))
  await commit('by a')
  expect(await marked()).toBe('by a')
  await a.end('dead')
  await b.holders.refresh()
  expect(b.hasSweep()).toBe(true)
  await expect(commit('by a, too late')).rejects.toThrow(TaskMoved)
  const inOrg = sweep?.db.forOrg(1)
  const notRun = async () => expect.unreachable('the work is not begun')
  await expect(inOrg?.telemetry(notRun)).rejects.toThrow(TaskMoved)
  await expect(inOrg?.transaction(notRun), 'audited').rejects.toThrow(TaskMoved)
  await expect(inOrg?.transaction(notRun, { isPrepared: true }), 'audited, prepared').rejects.toThrow(TaskMoved)
  await expect(inOrg?.bulkTransaction(notRun)).rejects.toThrow(TaskMoved)
  await expect(sweep?.db.separateTransaction(notRun)).rejects.toThrow(TaskMoved)
  if (engine === 'postgres') await expect(sweep?.db.alterTable('select 1', 1000)).rejects.toThrow(TaskMoved)
  expect(await marked()).toBe('by a')
  await b.holders.find('sweep')?.db.systemTransaction((tx) => mark(tx, { value: 'by b' }))
  expect(await marked()).toBe('by b')
})

test.runIf(engine === 'postgres')('another node waits for the commit of a task before it takes the task', async () => {
  const { a, b } = await twoNodes()
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begins } = Promise.withResolvers<void>()
  const committing = a.holders.find('sweep')?.db.systemTransaction(async (tx) => {
    await mark(tx, { value: 'in time' })
    begins()
    await over
  })
  await begun
  await second.systemTransaction(async ({ kysely }) => {
    await kysely.updateTable('nodes').set({ state: 'dead' }).where('id', '=', a.node.id).execute()
  })
  const taking = b.holders.refresh()
  await until('the second node waits', async () => (await waiting()).rows.length > 0)
  expect(b.hasSweep()).toBe(false)
  end()
  await Promise.all([committing, taking])
  expect(b.hasSweep()).toBe(true)
  expect(await marked()).toBe('in time')
})
const waiting = () => sql`select 1 from pg_locks where not granted`.execute(second.schema)

test('a node that loses its messages stops its tasks, and goes on when it has its session back', async () => {
  const { a, b } = await twoNodes()
  const sweep = a.holders.find('sweep')
  a.cut()
  expect([sweep?.signal.aborted, a.hasSweep(), a.parts()]).toEqual([true, false, []])
  await a.holders.refresh()
  expect(a.hasSweep(), 'while it hears nothing').toBe(false)
  a.bus.mend()
  await until('the first node has its tasks again', () => a.hasSweep() && a.parts().length === 3)
  expect(b.hasSweep()).toBe(false)
})

test('a node that was declared dead stops its tasks, and takes part again under its new row', async () => {
  const { a, b } = await twoNodes()
  const sweep = a.holders.find('sweep')
  await a.end('dead')
  await b.holders.refresh()
  await a.replace()
  await b.holders.refresh()
  expect(sweep?.signal.aborted).toBe(true)
  await until('both have their share', () => a.parts().length >= 2 && a.parts().length + b.parts().length === 5)
  expect([a.hasSweep(), b.hasSweep()]).toEqual([false, true])
})

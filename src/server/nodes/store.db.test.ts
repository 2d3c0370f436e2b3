// Statements about nodes and about the database itself that only commands, starts and a full disk need.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld, storedAt } from '../../../test/support/database/store-world.ts'
import { deleteCopiedMark, findCopiedMark, writeCopiedMark } from '../db/copied-mark.ts'
import { databaseTime, databaseVersion } from '../db/database-version.ts'
import { probeDisk } from '../db/disk-probe.ts'
import { openCommandBus } from './command-bus.ts'
import { listNodes } from './node-list.ts'
import {
  deleteEndedNode,
  insertNode,
  listCertificateExpiries,
  listNodeLives,
  updateAllDead,
  updateCertificateExpiry,
  updateLeft,
  updateSeen,
} from './store.ts'

let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
})
afterAll(() => world.close())

test('nodes are listed with their devices, declared dead together, and deleted except the last', async () => {
  const { db, node, write } = world
  const list = async () =>
    (await listNodes(db.system, { endedAfter: 0 })).map(({ id, state, devices }) => ({
      id,
      state,
      devices: Number(devices),
    }))
  expect(await list()).toEqual([{ id: node, state: 'up', devices: 1 }])
  await write((tx) => updateAllDead(tx, { at: storedAt }))
  expect(await list()).toEqual([{ id: node, state: 'dead', devices: 0 }])
  const later = await write((tx) => insertNode(tx, { name: 'later', process: 'p', version: '1.0.0', at: storedAt }))
  await write(({ kysely }) => kysely.updateTable('endpoints').set({ node_id: null }).execute())
  for (const id of [node, later?.id ?? 0]) await write((tx) => deleteEndedNode(tx, { id }))
  expect(await list()).toEqual([{ id: later?.id, state: 'up', devices: 0 }])
})

test('a node that stops by itself has left', async () => {
  const { db, write } = world
  const node = await write((tx) => insertNode(tx, { name: 'guest', process: 'q', version: '1.0.0', at: storedAt }))
  await write((tx) => updateLeft(tx, { id: node?.id ?? 0, at: storedAt + 1 }))
  const rows = await listNodes(db.system, { endedAfter: 0 })
  expect(rows.find(({ id }) => id === node?.id)).toMatchObject({ state: 'left', ended_at: storedAt + 1 })
})

test('until when a node is known to have run: its end if it has left, and what it stored if it crashed', async () => {
  const { db, write } = world
  const start = async (name: string) =>
    (await write((tx) => insertNode(tx, { name, process: name, version: '1.0.0', at: storedAt })))?.id ?? 0
  const [left, crashed, settled, old] = [await start('a'), await start('b'), await start('c'), await start('d')]
  const seenOf = async () => {
    const lives = await listNodeLives(db.system, {})
    return [left, crashed, settled, old].map((id) => lives.find((life) => life.id === id)?.seenAt ?? null)
  }
  expect(await seenOf()).toEqual([null, null, null, null])
  await write((tx) => updateSeen(tx, { id: settled, at: storedAt + 5 }))
  await write((tx) => updateLeft(tx, { id: left, at: storedAt + 7 }))
  await write(({ kysely }) => kysely.updateTable('nodes').set({ seen_at: null }).where('id', '=', old).execute())
  await write((tx) => updateAllDead(tx, { at: storedAt + 9 }))
  const nodes = [storedAt + 7, storedAt, storedAt + 5, storedAt + 9]
  expect(await seenOf()).toEqual(nodes)
  await write((tx) => updateSeen(tx, { id: settled, at: storedAt + 11 }))
  expect(await seenOf(), 'a node that has ended is not seen again').toEqual(nodes)
})

test('the expiry of a certificate is stored with its node', async () => {
  const { db, write } = world
  const [{ id } = { id: 0 }] = await listNodes(db.system, { endedAfter: 0 })
  expect(await listCertificateExpiries(db.system, { endedSince: 0 })).toEqual([])
  await write((tx) => updateCertificateExpiry(tx, { id, expiresAt: storedAt }))
  const expiries = await listCertificateExpiries(db.system, { endedSince: 0 })
  expect(expiries.map(({ certificate_expires_at }) => certificate_expires_at)).toEqual([storedAt])
})

test('the mark of a copied database is written, read and removed', async () => {
  const { db } = world
  expect(await findCopiedMark(db)).toBeUndefined()
  const mark = { to: '/elsewhere', at: '2026-05-01T12:00:00Z' }
  await writeCopiedMark(db, mark)
  expect(await findCopiedMark(db)).toEqual(mark)
  await deleteCopiedMark(db)
  expect(await findCopiedMark(db)).toBeUndefined()
})

test('a disk that has space again is noticed by a write, which leaves nothing behind', async () => {
  const { db, write } = world
  const settings = () => write(({ kysely }) => kysely.selectFrom('settings').select('name').orderBy('name').execute())
  const before = await settings()
  db.health.noteFailedWrite('full')
  expect(db.problem).toBeDefined()
  await probeDisk(db)
  expect(db.problem).toBeUndefined()
  expect(await settings()).toEqual(before)
})

test('the database tells its version, and PostgreSQL its time', async () => {
  const { db } = world
  const isPostgres = db.engine === 'postgres'
  expect(await databaseVersion(db)).toMatch(isPostgres ? /^PostgreSQL \d+/ : /^SQLite 3\.\d+/)
  const time = await databaseTime(db)
  if (isPostgres) expect(Math.abs((time ?? 0) - Date.now())).toBeLessThan(60_000)
  else expect(time).toBeUndefined()
})

test('a command sends its messages before it ends', async () => {
  const { bus, flush } = openCommandBus(world.db)
  expect(bus).toBeDefined()
  await expect(flush()).resolves.toBeUndefined()
})

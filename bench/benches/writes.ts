// A region is created, durable and audited, beside the same rows written by better-sqlite3 behind node:http.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Bench } from '../bench.ts'
import type { Ending } from '../cleanup.ts'
import { HttpClient } from '../load/http-client.ts'
import { requestOf } from '../load/http-load.ts'
import { costLine, senderLine, takeTurns } from '../measure/comparison.ts'
import { explained } from '../measure/figures.ts'
import { bareChild, httpSide } from '../measure/http-comparison.ts'
import { expectChain } from '../servers/audit-verify.ts'
import { peerSide, startJsonServer, withPeers } from '../servers/peers.ts'
import { startServer } from '../servers/roomkeeper.ts'

export const writes: Bench = async ({ quick, profiles, ending }) => {
  const dataDir = ending.folder()
  const database = join(dataDir, 'roomkeeper.db')
  const first = await startServer(dataDir)
  ending.add(() => first.child.stop())
  await first.child.stop()
  // The limit has our tables, with all their indexes, and our organisation.
  const copy = join(ending.folder(), 'bare.db')
  copyFileSync(database, copy)

  const server = await startServer(dataDir, profiles.flags('ours'))
  ending.add(() => server.child.stop())
  const limit = await bareChild({ ending, profiles }, 'bare better-sqlite3 behind node:http', ['regions.ts', copy])

  const path = `/v1/orgs/${first.org}/regions`
  const ours = naming((body) => requestOf('POST', path, { key: first.key, body }))
  const bare = naming((body) => requestOf('POST', path, { key: first.key, body }))
  const sidesOf = async (connections: number, warmUp: number) => [
    await httpSide(ending, { ...server, name: 'ours' }, { request: ours.request, connections, warmUp }),
    await httpSide(ending, limit, { request: bare.request, connections, warmUp }),
  ]
  const peer = quick ? undefined : await withPeers(() => startPeer(ending))
  const many = [...(await sidesOf(10, quick ? 1000 : 2000)), ...(peer ? [peer.side] : [])]
  const plan = { rounds: quick ? 3 : 5, profiles }
  const manyRounds = await takeTurns(many, { ...plan, count: quick ? 800 : 2500 })
  const alone = await sidesOf(1, 50)
  const aloneRounds = await takeTurns(alone, { ...plan, count: quick ? 200 : 600 })

  await server.child.stop()
  await limit.child.stop()
  expectAll(database, ours.sent)
  expectAll(copy, bare.sent)
  await peer?.expectAll()
  await expectChain(['--data-dir', dataDir])
  return [
    costLine('regionsCreate, durable and audited, 10 connections', many, manyRounds, 1.7),
    senderLine('regionsCreate', many, manyRounds),
    // Nothing to share a commit with.
    explained(
      costLine('regionsCreate, durable and audited, one at a time', alone, aloneRounds, 1.7),
      'there is no commit to share, and what is around the statements and the commit is spread thin: nothing of it has more than 6 % (bench/results/profiles.md).',
    ),
  ]
}

/** Regions with names of their own, counted. */
function naming(request: (body: { readonly name: string }) => Buffer) {
  const named = { sent: 0, request: () => request({ name: `Region ${named.sent++}` }) }
  return named
}

/** Whatever was answered is there, and so is its entry. */
function expectAll(database: string, sent: number): void {
  const db = new Database(database, { readonly: true })
  const count = (from: string) => db.prepare(`SELECT count(*) FROM ${from}`).pluck().get()
  const [regions, entries] = [count('regions'), count("audit_log WHERE type = 'REGION_CREATED'")]
  db.close()
  if (regions !== sent || entries !== sent) {
    throw new Error(`${sent} regions were sent; the database has ${regions}, and ${entries} entries about them`)
  }
}

async function startPeer(ending: Ending) {
  const server = await startJsonServer(ending, { regions: [] })
  const regions = naming((body) => requestOf('POST', '/regions', { body }))
  const asked = { request: regions.request, status: 201, warmUp: 100, share: 1 / 25 }
  const side = await peerSide({ ...server, name: `${server.name}, not durable, not audited` }, asked)
  return {
    side,
    async expectAll() {
      const http = new HttpClient(server.url)
      const { length } = await http.json('GET', '/regions')
      http.close()
      if (length !== regions.sent) throw new Error(`${server.name} has ${length} regions, not ${regions.sent}`)
    },
  }
}

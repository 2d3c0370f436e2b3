// Measures regionsCreate, durable and audited; the baseline is better-sqlite3 that writes the same rows behind node:http.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Cleanup } from '../cleanup.ts'
import { HttpClient } from '../load/http-client.ts'
import { makeRequest } from '../load/http-load.ts'
import { cpuRow, generatorRow, measureInTurns } from '../measure/comparison.ts'
import { withReasonIfMissed } from '../measure/figures.ts'
import { httpContender, peerContender } from '../measure/http-comparison.ts'
import type { Bench } from '../options.ts'
import { verifyAuditLog } from '../servers/audit-verify.ts'
import { startBare } from '../servers/bare.ts'
import { startJsonServer, withPeers } from '../servers/peers.ts'
import { startServer } from '../servers/roomkeeper.ts'

export const writes: Bench = async ({ quick, profiles, cleanup }) => {
  const dataDir = cleanup.tempFolder()
  const database = join(dataDir, 'roomkeeper.db')
  const first = await startServer(dataDir)
  cleanup.add(() => first.process.stop())
  await first.process.stop()
  // The baseline works on a copy of our database, with the same tables, indexes and organisation.
  const copy = join(cleanup.tempFolder(), 'bare.db')
  copyFileSync(database, copy)

  const server = await startServer(dataDir, profiles.nodeFlags('ours'))
  cleanup.add(() => server.process.stop())
  const baseline = await startBare({ cleanup, profiles }, 'bare better-sqlite3 behind node:http', ['regions.ts', copy])

  const path = `/v1/orgs/${first.org}/regions`
  const ourRegions = countRegions((body) => makeRequest('POST', path, { key: first.key, body }))
  const bareRegions = countRegions((body) => makeRequest('POST', path, { key: first.key, body }))
  const contendersWith = async (connections: number, warmUp: number) => [
    await httpContender(cleanup, { ...server, name: 'ours' }, { request: ourRegions.request, connections, warmUp }),
    await httpContender(cleanup, baseline, { request: bareRegions.request, connections, warmUp }),
  ]
  const peer = quick ? undefined : await withPeers(() => startPeer(cleanup))
  const concurrent = [...(await contendersWith(10, quick ? 1000 : 2000)), ...(peer ? [peer.contender] : [])]
  const plan = { rounds: quick ? 3 : 5, profiles }
  const concurrentRounds = await measureInTurns(concurrent, { ...plan, count: quick ? 800 : 2500 })
  const sequential = await contendersWith(1, 50)
  const sequentialRounds = await measureInTurns(sequential, { ...plan, count: quick ? 200 : 600 })

  await server.process.stop()
  await baseline.process.stop()
  expectRegions(database, ourRegions.sent)
  expectRegions(copy, bareRegions.sent)
  await peer?.expectRegions()
  await verifyAuditLog(['--data-dir', dataDir])
  return [
    cpuRow('regionsCreate, durable and audited, 10 connections', concurrent, concurrentRounds, 1.7),
    generatorRow('regionsCreate', concurrent, concurrentRounds),
    withReasonIfMissed(
      cpuRow('regionsCreate, durable and audited, one request at a time', sequential, sequentialRounds, 1.7),
      'A single request shares its commit with no other. The CPU outside the statements and the commit is spread over many functions, none of which takes more than 6 % (bench/results/profiles.md).',
    ),
  ]
}

/** Makes requests with a new name each and counts them. */
function countRegions(makeRequestFor: (body: { readonly name: string }) => Buffer) {
  const regions = { sent: 0, request: () => makeRequestFor({ name: `Region ${regions.sent++}` }) }
  return regions
}

/** Every region that was answered must be in the database, with its audit entry. */
function expectRegions(database: string, sent: number): void {
  const db = new Database(database, { readonly: true })
  const count = (from: string) => db.prepare(`SELECT count(*) FROM ${from}`).pluck().get()
  const [regions, entries] = [count('regions'), count("audit_log WHERE type = 'REGION_CREATED'")]
  db.close()
  if (regions !== sent || entries !== sent) {
    throw new Error(`${sent} regions were sent, but the database has ${regions} regions and ${entries} audit entries.`)
  }
}

async function startPeer(cleanup: Cleanup) {
  const server = await startJsonServer(cleanup, { regions: [] })
  const regions = countRegions((body) => makeRequest('POST', '/regions', { body }))
  const work = { request: regions.request, status: 201, warmUp: 100, share: 1 / 25 }
  const contender = await peerContender({ ...server, name: `${server.name}, not durable, not audited` }, work)
  return {
    contender,
    async expectRegions() {
      const http = new HttpClient(server.url)
      const { length } = await http.json('GET', '/regions')
      http.close()
      if (length !== regions.sent) throw new Error(`${server.name} has ${length} regions instead of ${regions.sent}.`)
    },
  }
}

// The baseline of regionsCreate: better-sqlite3 behind node:http writes the same rows in one durable transaction. Argument: a copy of our database.
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'

const [file = ''] = process.argv.slice(2)
const db = new Database(file)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.pragma('foreign_keys = ON')

const org = db.prepare('SELECT key FROM orgs').pluck().get() as number
let count = db.prepare('SELECT count FROM audit_heads WHERE org = ?').pluck().get(org) as number

const begin = db.prepare('BEGIN IMMEDIATE')
const commit = db.prepare('COMMIT')
const nextId = db
  .prepare(
    `INSERT INTO counters (org, noun, last) VALUES (?, 'region', 1)
     ON CONFLICT (org, noun) DO UPDATE SET last = last + 1 RETURNING last`,
  )
  .pluck()
const insertRegion = db.prepare('INSERT INTO regions (org, id, version, name) VALUES (?, ?, 1, ?)')
const insertEntry = db.prepare(
  `INSERT INTO audit_log (org, seq, timestamp, category, type, actor_type, actor_id, actor_name, target_type, target_id,
     target_name, details, request_id, ip, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
)
const updateHead = db.prepare('UPDATE audit_heads SET count = ?, mac = ?, timestamp = ? WHERE org = ?')

// These values have the length of real ones; computing real ones is work of our server, not of the database.
const mac = randomBytes(32)
const requestId = randomUUID()

function createRegion(name: string): number {
  const now = Date.now()
  begin.run()
  const id = nextId.get(org) as number
  insertRegion.run(org, id, name)
  insertEntry.run(
    org,
    ++count,
    now,
    'ORG',
    'REGION_CREATED',
    'KEY',
    '1',
    'first key',
    'region',
    `${id}`,
    name,
    JSON.stringify({ after: { name } }),
    requestId,
    '127.0.0.1',
    mac,
  )
  updateHead.run(count, mac, now, org)
  commit.run()
  return id
}

// Connections are idle while other contenders have their turn; they stay open as long as those of our server.
const server = createServer({ keepAliveTimeout: 72_000 }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { name }: { name: string } = JSON.parse(Buffer.concat(chunks).toString())
    const id = createRegion(name)
    const text = JSON.stringify({ id, name, locations: [] })
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text)
  })
})
server.listen({ host: '127.0.0.1', port: 0 }, () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => {
  db.close()
  process.exit(0)
})

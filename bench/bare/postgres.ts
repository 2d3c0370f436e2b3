// The baseline on PostgreSQL: pg behind node:http and aedes, with our statements and our answers. Argument: the address of a database with our tables.
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net'
import { Aedes } from 'aedes'
import pg from 'pg'

const types = {
  getTypeParser: (oid: number, format?: string) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig
const pool = new pg.Pool({ connectionString: process.argv[2], max: 10, types })

const named = (name: string, text: string) => (values: readonly unknown[]) => ({ name, text, values: [...values] })

const oneEndpoint = named(
  'endpoint',
  `select e.id, e.version, e.serial, e.pairing_serial, e.model, e.room_id, e.profile_id, case d.state when 'up' then 1 else 0 end as connected, e.connection_time,
     e.enrolment_time, e.status, r.name as room_name
   from endpoints as e left join nodes as d on d.id = e.node_id
     left join rooms as r on r.org = e.org and r.id = e.room_id where e.org = $1 and e.id = $2`,
)
const allEndpoints = named(
  'endpoints',
  `select e.id, e.serial, e.pairing_serial, e.model, case d.state when 'up' then 1 else 0 end as connected, e.connection_time, e.profile_id, e.status, e.room_id,
     r.name as room_name
   from endpoints as e left join nodes as d on d.id = e.node_id left join rooms as r on r.org = e.org and r.id = e.room_id where e.org = $1 order by e.id`,
)
const auditPage = named(
  'audit',
  `select * from audit_log where org = $1 and timestamp >= $2 and (timestamp, seq) < ($3, $4)
   order by timestamp desc, seq desc limit $5`,
)
const lockHead = named('lock', 'select * from audit_heads where org = $1 for update')
const nextId = named(
  'bump',
  `insert into counters (org, noun, last) values ($1, 'region', 1)
   on conflict (org, noun) do update set last = counters.last + 1 returning last`,
)
const insertRegion = named('region', 'insert into regions (org, id, name, version) values ($1, $2, $3, 1)')
const insertEntry = named(
  'entry',
  `insert into audit_log (org, seq, timestamp, category, type, actor_type, actor_id, actor_name, target_type, target_id,
     target_name, details, request_id, ip, mac) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
)
const updateHead = named('head', 'update audit_heads set count = $2, mac = $3, timestamp = $4 where org = $1')

const columns = ['timestamp', 'co2', 'humidity', 'illumination', 'people', 'temp', 'voc', 'voc_index', 'shutter_closed']
const insertMany = (table: string, names: readonly string[], conflict: string) =>
  named(
    table,
    `insert into ${table} (${names.join()}) select * from unnest(${names.map((_, i) => `$${i + 1}::bigint[]`).join()})
     on conflict ${conflict}`,
  )
const insertSamples = insertMany('samples', ['org', 'slot', 'endpoint', ...columns], 'do nothing')
const insertDue = insertMany('sample_due', ['org', 'endpoint', 'slot'], 'do nothing')
const updateLatest = insertMany(
  'samples_latest',
  ['org', 'endpoint', ...columns],
  `(org, endpoint) do update set ${columns.map((c) => `${c} = excluded.${c}`).join()}
   where samples_latest.timestamp < excluded.timestamp`,
)

const org: number = (await pool.query('select key from orgs')).rows[0].key
const numbers = new Map<string, number>(
  (await pool.query('select id, number from endpoints')).rows.map(({ id, number }) => [id, number]),
)
await pool.query('create table if not exists samples_rest partition of samples default')

async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  await client.query('begin')
  const result = await work(client)
  await client.query('commit')
  client.release()
  return result
}

const isoTime = (ms: number) => new Date(ms).toISOString()

async function endpointsGet(id: string): Promise<unknown> {
  const [row] = (await pool.query(oneEndpoint([org, id]))).rows
  const { networks, ...status } = JSON.parse(row.status)
  return {
    id: row.id,
    serial: row.serial,
    pairingSerial: row.pairing_serial ?? undefined,
    model: row.model,
    connected: row.connected === 1,
    connectionTime: row.connection_time === null ? undefined : isoTime(row.connection_time),
    enrolmentTime: isoTime(row.enrolment_time),
    roomId: row.room_id,
    roomName: row.room_name,
    profileId: row.profile_id ?? undefined,
    ...status,
    networks,
  }
}

async function endpointsBasicList(): Promise<unknown> {
  const { rows } = await pool.query(allEndpoints([org]))
  return {
    endpoints: rows.map((row) => {
      const { localIpAddress, networks, inCallStatus, firmwareVersion, latestVersion } = JSON.parse(row.status)
      return {
        id: row.id,
        serial: row.serial,
        model: row.model,
        connected: row.connected === 1,
        connectionTime: row.connection_time === null ? undefined : isoTime(row.connection_time),
        roomId: row.room_id,
        roomName: row.room_name,
        profileId: row.profile_id ?? undefined,
        localIpAddress,
        macAddresses: networks.map(({ macAddress }: { macAddress: string }) => macAddress),
        inCallStatus,
        firmwareVersion,
        latestVersion,
        pairingSerial: row.pairing_serial ?? undefined,
      }
    }),
  }
}

async function auditLogs(query: URLSearchParams): Promise<unknown> {
  const time = (name: string) => Date.parse(query.get(name) ?? '')
  const { rows } = await pool.query(auditPage([org, time('from'), time('to'), 0, 101]))
  return {
    logs: rows.slice(0, 100).map((row) => ({
      id: String(row.seq),
      timestamp: isoTime(row.timestamp),
      category: row.category,
      type: row.type,
      actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
      target: { type: row.target_type, id: row.target_id, name: row.target_name },
      details: JSON.parse(row.details),
      requestId: row.request_id ?? undefined,
      ip: row.ip ?? undefined,
    })),
    nextPageToken: '',
  }
}

// These values have the length of real ones; computing real ones is work of our server, not of the database.
const mac = randomBytes(32)
const requestId = randomUUID()

const regionsCreate = (name: string): Promise<unknown> =>
  inTransaction(async (client) => {
    const head = (await client.query(lockHead([org]))).rows[0]
    const id: number = (await client.query(nextId([org]))).rows[0].last
    await client.query(insertRegion([org, id, name]))
    const now = Date.now()
    const about = ['ORG', 'REGION_CREATED', 'KEY', '1', 'first key', 'region', `${id}`, name]
    const details = JSON.stringify({ after: { name } })
    await client.query(insertEntry([org, head.count + 1, now, ...about, details, requestId, '127.0.0.1', mac]))
    await client.query(updateHead([org, head.count + 1, mac, now]))
    return { id, name, locations: [] }
  })

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function answerTo(request: IncomingMessage): Promise<unknown> {
  const [path = '', query] = (request.url ?? '').split('?')
  if (request.method === 'POST') return regionsCreate(JSON.parse(await textOf(request)).name)
  if (path.endsWith('/endpoints')) return endpointsBasicList()
  if (path.endsWith('/audit/logs')) return auditLogs(new URLSearchParams(query))
  return endpointsGet(path.slice(path.lastIndexOf('/') + 1))
}

// Connections are idle while the other contender has its turn; they stay open as long as those of our server.
const http = createServer({ keepAliveTimeout: 72_000 }, async (request, response) => {
  const text = JSON.stringify(await answerTo(request))
  response.setHeader('Content-Type', 'application/json')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
})

interface PendingSample {
  readonly endpoint: number
  readonly values: readonly (number | null)[]
  readonly done: () => void
}
let pending: PendingSample[] = []
let isCommitting = false

/** Writes the samples that arrived during the previous commit in one transaction and then acknowledges them. */
async function commit(): Promise<void> {
  isCommitting = true
  while (pending.length > 0) {
    const batch = pending
    pending = []
    const arrays = (rows: readonly (readonly (number | null)[])[]) =>
      (rows[0] ?? []).map((_, i) => `{${rows.map((row) => row[i] ?? 'NULL').join()}}`)
    const time = ({ values }: PendingSample) => Number(values[0])
    await inTransaction(async (client) => {
      await client.query(
        insertSamples(arrays(batch.map((w) => [org, Math.floor(time(w) / 300), w.endpoint, ...w.values]))),
      )
      await client.query(updateLatest(arrays(batch.map((w) => [org, w.endpoint, ...w.values]))))
      await client.query(insertDue(arrays(batch.map((w) => [org, w.endpoint, Math.floor(time(w) / 900)]))))
    })
    for (const { done } of batch) done()
  }
  isCommitting = false
}

const broker = await Aedes.createBroker({
  authenticate: (_client, _username, _password, done) => done(null, true),
  authorizePublish: (client, packet, done) => {
    const [sample] = JSON.parse(packet.payload.toString()).samples
    const { timestamp, co2, humidity, illumination, people, temp, voc } = sample
    pending.push({
      endpoint: numbers.get(client?.id ?? '') ?? 0,
      values: [timestamp, co2, Math.round(humidity * 10), illumination, people, Math.round(temp * 10), voc, null, 0],
      done: () => done(null),
    })
    if (!isCommitting) setImmediate(() => void (isCommitting || commit()))
  },
})
const mqtt = createSocketServer((socket) => {
  socket.setNoDelay(true)
  broker.handle(socket)
})

const portOf = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => void server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  return (server.address() as AddressInfo).port
}
process.stdout.write(`listening on ${await portOf(http)} and ${await portOf(mqtt)}\n`)
process.once('SIGTERM', () => process.exit(0))

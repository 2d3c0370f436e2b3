// kill -9 of servers in the middle of requests with an Idempotency-Key, which are sent again until they succeed: on SQLite one server, on
// PostgreSQL three nodes.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { report } from '../../support/endurance/counts.ts'
import { SeededChoices } from '../../support/endurance/random.ts'
import { engine, type Reply, send } from '../../support/harness.ts'
import { runCount } from '../../support/long-form.ts'
import { type Server, siteForTest } from '../../support/program.ts'

const requests = runCount({ short: 20, full: 1000, long: 1000 })
const kills = runCount({ short: 1, full: 10, long: 10 })
const seed = 32
/** So many are sent at the same time. */
const writers = 5

test(`kill -9 of servers during ${requests} requests with an Idempotency-Key: each request is done once [contract 7.once]`, async () => {
  const site = await siteForTest()
  const options = ['--rate-limit', '0', '--log-level', 'error']
  const start = (n: number) => (engine === 'sqlite' ? site.serve(...options) : site.serveNode(`node-${n}`))
  const first = await start(0)
  const { org, key } = first
  const servers: Server[] = [first]
  if (engine === 'postgres') servers.push(...(await Promise.all([start(1), start(2)])))
  const choices = new SeededChoices(seed)

  const attempt = (n: number): Promise<Reply | undefined> =>
    send(servers[choices.below(servers.length)]?.url ?? '', 'POST', `/v1/orgs/${org}/rooms`, {
      key,
      body: { name: `Room ${n}` },
      headers: { 'idempotency-key': `room-${n}` },
    }).catch(() => undefined)
  const codes = new Map<number, string>()
  let [next, replayed] = [0, 0]
  const write = async () => {
    for (let n = next++; n < requests; n = next++) {
      for (;;) {
        const reply = await attempt(n)
        if (reply?.status === 200) {
          codes.set(n, reply.body.dec)
          if (reply.headers.has('idempotency-replayed')) replayed++
          break
        }
        if (reply && ![409, 429, 503].includes(reply.status)) throw new Error(`${reply.status} ${reply.text}`)
        await pause(20)
      }
    }
  }
  const killAndStart = async () => {
    for (let kill = 1; kill <= kills; kill++) {
      const after = (requests * kill) / (kills + 1)
      while (next < after) await pause(1)
      const victim = choices.below(servers.length)
      await servers[victim]?.stop('SIGKILL')
      servers[victim] = await start(victim)
    }
  }
  await Promise.all([killAndStart(), ...Array.from({ length: writers }, write)])

  // The answer of each, sent once more to another server, is the one that its caller got.
  for (const [n, dec] of codes) expect((await attempt(n))?.body.dec).toBe(dec)
  const [rooms] = await site.sql('select count(*) as count, count(distinct name) as names from rooms')
  expect([codes.size, Number(rooms?.count), Number(rooms?.names)]).toEqual([requests, requests, requests])
  const [entries] = await site.sql("select count(*) as count from audit_log where type = 'ROOM_CREATED'")
  expect(Number(entries?.count)).toBe(requests)
  report('kill -9 in requests with a key', seed, { kills, requests, replayed })
})

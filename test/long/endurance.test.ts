// The endurance tests in their long form; test/support/endurance/counts.ts names the environment variables that change the counts.
import { expect, test } from 'vitest'
import { badHttp, serveBadClients } from '../support/endurance/bad-http.ts'
import { badMqtt } from '../support/endurance/bad-mqtt.ts'
import { longCountsFrom } from '../support/endurance/counts.ts'
import { deliveryKills } from '../support/endurance/delivery-kills.ts'
import { jobKills } from '../support/endurance/job-kills.ts'
import { killCycles } from '../support/endurance/kill-cycles.ts'
import { networkDrop } from '../support/endurance/network-drop.ts'
import { soak } from '../support/endurance/soak.ts'
import { unreadClients } from '../support/endurance/unread-clients.ts'
import { percentile } from '../support/flood.ts'
import { connectionFloodText, measureConnectionFlood, measureOverload, overloadText } from '../support/overload.ts'
import { siteForTest } from '../support/program.ts'

const counts = longCountsFrom(process.env)

test('300 times kill -9: no acknowledged write, sample or command is lost or doubled, and 95 % of the starts are ready within 2 s', async () => {
  const { readyMs } = await killCycles(await siteForTest(), counts)
  expect(percentile(readyMs, 95)).toBeLessThan(2000)
})

test('50 times kill -9 between commit and delivery: no message is lost, and no sequence is missing', async () => {
  const kills = Math.min(counts.kills, 50)
  expect(await deliveryKills(await siteForTest(), { ...counts, kills, opensIncident: true })).toBeGreaterThan(0)
})

test('100 times kill -9 in the middle of jobs: no endpoint is changed twice, none is forgotten, and units only go forward', async () => {
  expect(await jobKills(await siteForTest(), { ...counts, kills: Math.min(counts.kills, 100) })).toBeGreaterThan(0)
})

test('1,000,000 bad HTTP requests do not end the server, and its memory is bounded', async () => {
  await badHttp((await serveBadClients(await siteForTest())).server, counts)
})

test('1,000,000 bad MQTT packets do not end the server, and its memory is bounded', async () => {
  await badMqtt(await serveBadClients(await siteForTest()), counts)
})

test('after 10 minutes of unread answers, stalled streams and idle connections the memory is at most 1.5 times that before', async () => {
  await soak(await siteForTest(), counts)
})

test('2,400 clients that send ahead and read nothing take at most 400 MiB; 30 s after they left the memory is at most 1.5 times that before, and their descriptors are closed', async () => {
  const { accepted } = await unreadClients(await siteForTest(), { clients: 2400, seconds: 45, seed: counts.seed })
  expect(accepted).toBe(2400)
})

test('at three times the load that can be served, health checks take less than 100 ms on both ports, and 80 % of the work is useful', async () => {
  const figures = await measureOverload(await siteForTest(), 20, { connections: 800 })
  process.stdout.write(`${overloadText(figures)}\n`)
  for (const { port, path, p99Ms } of figures.probes) expect(p99Ms, `${path} of the port ${port}`).toBeLessThan(100)
  expect(figures.usefulWork).toBeGreaterThan(0.8)
  expect(figures.normalAfterMs).toBeLessThan(10_000)
})

test('under a flood of connections, /livez takes less than 100 ms on the health port', async () => {
  const figures = await measureConnectionFlood(await siteForTest(), 20, 400)
  process.stdout.write(`${connectionFloodText(figures)}\n`)
  expect(figures.probes.find(({ port, path }) => port === 'health' && path === '/livez')?.p99Ms).toBeLessThan(100)
})

test('5,000 devices that lose their network for a moment are connected again within 20 s', async () => {
  const { reconnectedAfterMs } = await networkDrop(await siteForTest(), { devices: 5000, seed: counts.seed })
  expect(reconnectedAfterMs).toBeLessThan(20_000)
})

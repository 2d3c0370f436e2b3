// Short forms of the endurance tests with bad input and silent clients; `npm run test:long` runs the long ones with the same code.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BadClientsServer, badHttp, serveBadClients } from '../support/endurance/bad-http.ts'
import { badMqtt } from '../support/endurance/bad-mqtt.ts'
import { shortCounts } from '../support/endurance/counts.ts'
import { soak } from '../support/endurance/soak.ts'
import { newSite, type Site, siteForTest } from '../support/program.ts'

let site: Site
let bad: BadClientsServer
beforeAll(async () => {
  site = await newSite()
  bad = await serveBadClients(site)
})
afterAll(() => site.close())

test('thousands of bad HTTP requests do not end the server, and its memory is bounded', async () => {
  const { answers } = await badHttp(bad.server, shortCounts)
  expect(answers).toBeGreaterThanOrEqual(shortCounts.badHttpRequests)
})

test('thousands of bad MQTT packets do not end the server, and its memory is bounded', async () => {
  const { packets } = await badMqtt(bad, shortCounts)
  expect(packets).toBeGreaterThanOrEqual(shortCounts.badMqttPackets)
})

test('after unread answers, stalled streams and idle connections the memory is as before', async () => {
  const { served } = await soak(await siteForTest(), shortCounts)
  expect(served).toBeGreaterThan(0)
})

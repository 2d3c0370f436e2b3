// Short forms of the endurance tests with bad input and silent clients; `npm run test:long` runs the long ones with the same code.
import { expect, test } from 'vitest'
import { badHttp } from '../support/endurance/bad-http.ts'
import { badMqtt } from '../support/endurance/bad-mqtt.ts'
import { shortCounts } from '../support/endurance/counts.ts'
import { soak } from '../support/endurance/soak.ts'
import { siteForTest } from '../support/program.ts'

test('thousands of bad HTTP requests do not end the server, and its memory is bounded', async () => {
  const { answers } = await badHttp(await siteForTest(), shortCounts)
  expect(answers).toBeGreaterThanOrEqual(shortCounts.badHttpRequests)
})

test('thousands of bad MQTT packets do not end the server, and its memory is bounded', async () => {
  const { packets } = await badMqtt(await siteForTest(), shortCounts)
  expect(packets).toBeGreaterThanOrEqual(shortCounts.badMqttPackets)
})

test('after unread answers, stalled streams and idle connections the memory is as before', async () => {
  const { served } = await soak(await siteForTest(), shortCounts)
  expect(served).toBeGreaterThan(0)
})

// The agent's queue while the server is stopped and started: samples that were acknowledged are stored, the others arrive later.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { Agent } from '../../src/device/agent.ts'
import { requestEnrolment } from '../../src/device/enrol.ts'
import { freePort } from '../support/free-port.ts'
import { send } from '../support/harness.ts'
import { newSite } from '../support/program.ts'

test('samples during a stop and a start of the server: each is stored, and an acknowledged one is stored before the stop', async () => {
  const site = await newSite()
  onTestFinished(() => site.close())
  const ports = ['--port', String(await freePort()), '--mqtt-port', String(await freePort())]
  const server = await site.serveHere(...ports)
  const room = await send(server.url, 'POST', `/v1/orgs/${server.org}/rooms`, {
    key: server.key,
    body: { name: 'Fjord' },
  })
  const identity = await requestEnrolment(server.url, { code: room.body.dec, serial: 'Q1', model: 'NF19B1' })
  const agent = new Agent({
    identity,
    status: {},
    storage: { load: () => undefined, save: () => {} },
    handlers: {
      settings: () => ({}),
      applyConfig: () => undefined,
      reboot: () => {},
      showMessage: () => {},
      collectLogs: () => Buffer.from(''),
    },
  })
  onTestFinished(() => agent.stop())
  const connected = once(agent, 'connected')
  await agent.start()
  await connected

  const start = Math.floor(Date.now() / 1000) - 10_000
  const acknowledged: number[] = []
  const all: Promise<void>[] = []
  const sampleNext = () => {
    const timestamp = start + all.length
    all.push(agent.sample([{ timestamp, temp: 21 }]).then(() => void acknowledged.push(timestamp)))
  }
  const stored = async () =>
    (await site.sql('select timestamp from samples order by timestamp')).map((row) => Number(row.timestamp))

  for (let i = 0; i < 20; i++) sampleNext()
  await all[0]
  const stopped = server.stop()
  let isStopped = false
  void stopped.then(() => {
    isStopped = true
  })
  while (!isStopped) {
    sampleNext()
    await pause(1)
  }
  const kept = await stored()
  expect(kept.length).toBeGreaterThan(0)
  expect(kept).toEqual(expect.arrayContaining(acknowledged))

  for (let i = 0; i < 600; i++) sampleNext()
  expect(agent.queuedSamples).toBeGreaterThanOrEqual(600)
  await site.serveHere(...ports)
  await Promise.all(all)
  // The promises resolve in the order of the calls, and each timestamp has one row although some were sent twice.
  const expected = all.map((_, i) => start + i)
  expect(acknowledged).toEqual(expected)
  expect(await stored()).toEqual(expected)
  expect([agent.queuedSamples, agent.droppedSamples]).toEqual([0, 0])
})

// A gateway with a source is killed in the middle of commands, its server restarts, and a source has as many devices as it can have.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hourMs, minuteMs } from '../../src/contract/durations.ts'
import { freePort } from '../support/free-port.ts'
import { LineSource, type LineSourceDevice } from '../support/gateway/line-source.ts'
import { ProcessGateway } from '../support/gateway/process-gateway.ts'
import { SourceCalls } from '../support/gateway/source-calls.ts'
import { type Harness, quickTasks, send, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm, runCount } from '../support/long-form.ts'
import { siteForTest, startTimeoutMs, until } from '../support/program.ts'

const limitMs = runCount({ short: 4 * minuteMs, full: 20 * minuteMs, long: hourMs })

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
})
afterAll(() => harness.close())

const newDevices = (count: number, from = 0): LineSourceDevice[] =>
  Array.from({ length: count }, (_, i) => ({ key: `key-${from + i}`, model: 'Line 1', serial: `MANY-${from + i}` }))

async function start(url: string, call: TestOrg['call']): Promise<{ process: ProcessGateway; calls: SourceCalls }> {
  const { body: room } = await call('POST', '/rooms', { body: { name: 'Fjord' } })
  const process = new ProcessGateway(url, room.dec)
  const gatewayId = await until(
    'the gateway is online',
    async () => {
      const { gateways } = (await call('GET', '/gateways')).body
      return gateways[0]?.state === 'ONLINE' && gateways[0].id
    },
    { timeoutMs: startTimeoutMs },
  )
  return { process, calls: new SourceCalls(call, gatewayId, room.id) }
}

interface Command {
  readonly id: string
  readonly state: string
  readonly error?: string
}

test(
  'a gateway that is killed around commands to a source sends none twice, and says of which it is not known',
  async () => {
    const org = await harness.newOrg()
    const { process: gateway, calls } = await start(harness.url, org.call)
    const source = await LineSource.start(...newDevices(1))
    const [endpoint = ''] = await calls.adopt(await calls.connect(source), ['key-0'])
    const isOnline = async () => (await org.call('GET', `/endpoints/${endpoint}`)).body.connected
    const count = runCount({ short: 2, full: 20, long: 50 })
    const outcomes: string[] = []
    for (let i = 0; i < count; i++) {
      await until('it is online', isOnline, { timeoutMs: startTimeoutMs })
      const text = `Message ${i}`
      // In every other round the source does not say what became of the command.
      source.answersCommands = i % 2 === 1
      const body = { message: text, endpointIds: [endpoint] }
      const { operations } = (await org.call('POST', '/endpoints/send_message', { body })).body
      const sent = () => source.commands.filter(({ command }) => command === `message ${text}`).length
      if (source.answersCommands) await pause([0, 8, 25, 60][(i >> 1) % 4])
      else await until('the source has it', () => sent() === 1)
      await gateway.kill()
      source.answersCommands = true
      gateway.restart()
      const { state, error } = await until(
        'the command ends',
        async () => {
          const all: Command[] = (await org.call('GET', `/endpoints/${endpoint}/operations`)).body.operations
          const command = all.find(({ id }) => id === operations[0].id)
          return command && /SUCCEEDED|FAILED|EXPIRED/.test(command.state) && command
        },
        { timeoutMs: startTimeoutMs },
      )
      outcomes.push(state)
      if (state === 'SUCCEEDED') expect(sent()).toBe(1)
      else expect([state, error, sent() <= 1]).toEqual(['FAILED', 'It is not known whether it was sent.', true])
    }
    if (isFullForm) process.stdout.write(`${count} kills: ${outcomes.join(' ')}\n`)
    expect(outcomes.filter((state) => state === 'FAILED').length).toBeGreaterThanOrEqual(count / 2)
    const texts = source.commands.map(({ command }) => command)
    expect(new Set(texts).size).toBe(texts.length)
  },
  limitMs,
)

test(
  'a server that is killed has all devices of a source when it is back, and nothing that was found meanwhile is lost',
  async () => {
    const site = await siteForTest()
    const [port, mqttPort] = [String(await freePort()), String(await freePort())]
    const serve = () => site.serve('--port', port, '--mqtt-port', mqttPort, '--rate-limit', '0', '--log-level', 'error')
    let server = await serve()
    const { org, key } = server
    const call: TestOrg['call'] = (method, path, options = {}) =>
      until('an answer', async () => {
        const reply = await send(server.url, method, `/v1/orgs/${org}${path}`, { key, ...options })
        return reply.status !== 503 && reply
      })
    const { calls } = await start(server.url, call)
    const source = await LineSource.start(...newDevices(600))
    const id = await calls.connect(source)
    const [endpoint] = await calls.adopt(id, ['key-0'])
    await server.stop('SIGKILL')
    for (const device of newDevices(600, 600)) source.devices.set(device.key, device)
    source.devices.delete('key-1')
    source.list()
    await pause(500)
    server = await serve()
    await until('all are found', async () => (await calls.devices(id)).length === 1_200, { timeoutMs: startTimeoutMs })
    await until('one is missing', async () => (await calls.source(id)).devices.missing === 1)
    await until('the device is back', async () => (await call('GET', `/endpoints/${endpoint}`)).body.connected, {
      timeoutMs: startTimeoutMs,
    })
    expect((await calls.source(id)).state).toBe('CONNECTED')
  },
  limitMs,
)

const mebibytesOf = (pid: number) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

const found = runCount({ short: 300, full: 5_000, long: 5_000 })
// The gateway itself has an item of the thousand in no form.
const adopted = runCount({ short: 20, full: 1_000, long: 1_000 })
test(
  `a source has ${found} devices, of which ${adopted} are adopted: how soon they are there, and what they cost`,
  async () => {
    const org = await harness.newOrg()
    const { process: gateway, calls } = await start(harness.url, org.call)
    const emptyMebibytes = mebibytesOf(gateway.pid)
    const source = await LineSource.start(...newDevices(found, 10_000))
    const startedAtMs = performance.now()
    const id = await calls.connect(source)
    await until('all are found', async () => (await calls.source(id)).devices?.FOUND === found, { everyMs: 200 })
    const foundSeconds = (performance.now() - startedAtMs) / 1_000
    const keys = [...source.devices.keys()].slice(0, adopted)
    const adoptedAtMs = performance.now()
    await calls.adopt(id, keys, limitMs)
    const onlineSeconds = (performance.now() - adoptedAtMs) / 1_000
    const mebibytes = mebibytesOf(gateway.pid)
    // The devices leave and return with their source.
    const backAtMs = performance.now()
    source.fail({ state: 'FAILING', message: 'It answers with a page.', retryAfterMs: 1_000 })
    await until('one is away', async () => (await calls.device(id, keys[0] ?? '')).deviceState === 'UNREACHABLE')
    await until(
      'all are back',
      async () => {
        const { endpoints } = (await org.call('GET', '/endpoints')).body
        return (
          endpoints.filter((one: { connected: boolean }) => one.connected).length === adopted + 1 &&
          source.opened.get(keys.at(-1) ?? '') === 2
        )
      },
      { timeoutMs: limitMs, everyMs: 500 },
    )
    const backSeconds = (performance.now() - backAtMs) / 1_000
    const figures = { found, adopted, foundSeconds, onlineSeconds, backSeconds, emptyMebibytes, mebibytes }
    if (isFullForm) process.stdout.write(`${JSON.stringify(figures)}\n`)
    expect(mebibytes).toBeLessThan(300)
    expect(onlineSeconds).toBeLessThan(120)
  },
  limitMs,
)

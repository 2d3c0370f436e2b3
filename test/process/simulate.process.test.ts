// `roomkeeper simulate` as a real program: a small fleet that speaks the real protocol.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { send } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { expectRefusal, newSite, type ServerHere, type Site, until, untilPrinted } from '../support/program.ts'
import { runHere } from '../support/run-here.ts'

const allConnected = /^12 of 12 devices in 5 rooms are connected/m
const size = ['--endpoints', '12', '--rooms', '5', '--locations', '3', '--regions', '2']

interface Running {
  readonly org: string
  readonly key: string
  readonly state: string
  readonly args: readonly string[]
  /** Starts the fleet and waits until every device is connected. */
  simulate(...more: string[]): Promise<ReturnType<Site['launchHere']>>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  call(method: string, path: string, body?: unknown): Promise<any>
}

/** One server for all tests, each with an organisation of its own. */
let site: Site
let server: ServerHere
beforeAll(async () => {
  site = await newSite()
  server = await site.serveHere('--rate-limit', '0')
})
afterAll(() => site.close())

async function newRunning(): Promise<Running> {
  const { url } = server
  const { id: org } = await site.json('org', 'create', 'Fleet')
  const { key } = await site.json(
    'keys',
    'create',
    '--org',
    org,
    '--name',
    'Test',
    '--scope',
    'read',
    '--scope',
    'write',
  )
  // Less than the fleet needs at the same time: it waits when it is asked to.
  const limited = ['--scope', 'read', '--scope', 'write', '--rate-limit', '10']
  const { key: own } = await site.json('keys', 'create', '--org', org, '--name', 'Fleet', ...limited)
  const state = join(site.dataDir, `fleet-${org}.json`)
  const args = ['simulate', '--url', url, '--org', org, '--key', own, ...size, '--state', state]
  return {
    org,
    key,
    state,
    args,
    async simulate(...more) {
      const fleet = site.launchHere([...args, ...more])
      await untilPrinted(fleet, allConnected)
      return fleet
    },
    async call(method, path, body) {
      const reply = await send(url, method, `/v1/orgs/${org}${path}`, { key, body })
      expect(reply.status, reply.text).toBe(200)
      return reply.body
    },
  }
}

const endpointsOf = async ({ call }: Running): Promise<Endpoint[]> => (await call('GET', '/endpoints')).endpoints
interface Endpoint {
  readonly id: string
  readonly serial: string
  readonly model: string
  readonly connected: boolean
  readonly pairingSerial?: string
  readonly inCallStatus: string
}

const historySent = /^History sent: ([\d,]+) samples/m
/** How far back the history goes. */
const days = isFullForm ? 2 : 1

describe('simulate', () => {
  test('builds the rooms, enrols and connects the devices, and they do what they are asked', async () => {
    const running = await newRunning()
    const { call } = running
    const fleet = site.launch(running.args)
    await fleet.printed(allConnected)
    expect(fleet.stderr).toMatch(/^(regions \d\/2, locations \d\/3, )?rooms \d\/5/m)

    const { regions } = await call('GET', '/regions')
    expect(regions.map((r: { name: string }) => r.name)).toEqual(['Europe', 'Americas'])
    expect(regions.flatMap((r: { locations: unknown[] }) => r.locations)).toHaveLength(3)
    expect((await call('GET', '/rooms')).rooms).toHaveLength(5)
    const endpoints = await endpointsOf(running)
    expect(endpoints).toHaveLength(12)
    expect(endpoints.every((e) => e.connected)).toBe(true)
    const pad = endpoints.find((e) => e.pairingSerial) as Endpoint
    const leader = endpoints.find((e) => e.serial === pad.pairingSerial) as Endpoint
    const reported = await until('its first report', async () => {
      const endpoint = await call('GET', `/endpoints/${leader.id}`)
      return endpoint.firmwareVersion && endpoint
    })
    expect(reported).toMatchObject({
      firmwareVersion: expect.stringMatching(/^NF\w1\.\d{8}\.\d{4}$/),
      totalInternalStorage: expect.stringMatching(/^\d+$/),
      networks: [{ type: 'NETWORK_TYPE_ETHERNET', macAddress: expect.stringMatching(/^[\w+/]{8}$/) }, {}],
    })

    await until('a sample of each', async () =>
      (await call('GET', '/endpoints/sensor')).data.every((d: { endpointData: unknown }) => d.endpointData),
    )

    await call('POST', `/endpoints/${pad.id}/config`, { nightMode: true, settingsPassword: 'secret' })
    const config = await until('the config', async () => {
      const state = await call('GET', `/endpoints/${pad.id}/config/state`)
      return state.state === 'DELIVERED' && state
    })
    expect(config.reported).toMatchObject({ nightMode: true, primaryMode: expect.any(String) })

    const { operations } = await call('POST', `/endpoints/${leader.id}/reboot`)
    expect(operations.map((o: { endpointId: string }) => o.endpointId)).toEqual(
      expect.arrayContaining([leader.id, pad.id]),
    )
    await until('they are off', async () => !(await call('GET', `/endpoints/${pad.id}`)).connected)
    for (const { id } of operations) {
      await until('they are back', async () => (await call('GET', `/operations/${id}`)).state === 'SUCCEEDED')
    }
    const { supportId } = await call('POST', '/endpoints/generate_bug_report?uploadInCallLogs=true', [leader.id])
    const item = await until('the bundle', async () => {
      const [first] = (await call('GET', `/bug_reports/${supportId}`)).endpoints
      return first.state === 'UPLOADED' && first
    })
    const { org, key } = running
    const file = await fetch(`${server.url}/v1/orgs/${org}/bug_reports/${supportId}/files/${item.file}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const text = gunzipSync(Buffer.from(await file.arrayBuffer())).toString()
    expect(text).toContain(leader.serial)
    expect(text).toContain('rebooting on request')
    expect(text).toContain('== calls.log ==')

    const { code, stdout } = await fleet.stop('SIGINT')
    expect(code).toBe(0)
    const [, samples] =
      /^Stopped 12 devices after (\d+) samples, 1 configs, \d reboots, 0 messages, 1 log/m.exec(stdout) ?? []
    expect(Number(samples), 'one of each, within the first seconds').toBeGreaterThanOrEqual(12)
    await until('nobody is connected', async () => (await endpointsOf(running)).every((e) => !e.connected))
    if (process.platform !== 'win32') expect(statSync(running.state).mode & 0o777).toBe(0o600)
  })

  test('runs again as the same fleet: from its file without enrolling, without the file by enrolling again', async () => {
    const running = await newRunning()
    const { call } = running
    const enrolments = async () =>
      (await call('GET', '/audit/logs?from=1970-01-01&to=9999-01-01&pageSize=1000')).logs.filter(
        (entry: { type: string }) => entry.type === 'DEVICE_ENROLLED',
      ).length
    const rooms = async () =>
      (await call('GET', '/rooms')).rooms.map(({ id, name }: Endpoint & { name: string }) => [id, name])
    await (await running.simulate()).stop('SIGINT')
    const before = (await endpointsOf(running)).map(({ id, serial, model }) => ({ id, serial, model }))
    const roomsBefore = await rooms()
    expect(await enrolments()).toBe(12)

    // A person renames a room and removes a device while the fleet is away.
    const { location } = await call('GET', `/rooms/${roomsBefore[0][0]}`)
    await call('PUT', `/rooms/${roomsBefore[0][0]}`, { name: 'Renamed', locationId: location.id })
    const [removed] = before
    await call('DELETE', `/endpoints/${removed?.id}`)
    await (await running.simulate()).stop('SIGTERM')
    expect(await enrolments(), 'only the one that was removed').toBe(13)
    const after = await endpointsOf(running)
    expect(after.map((e) => e.serial).sort()).toEqual(before.map((e) => e.serial).sort())
    expect(after.filter((e) => before.some(({ id }) => id === e.id))).toHaveLength(11)
    const roomsAfter = await rooms()
    expect(roomsAfter).toHaveLength(5)
    expect(roomsAfter[0][1]).toBe('Renamed')

    rmSync(running.state)
    await (await running.simulate()).stop('SIGINT')
    expect(await enrolments()).toBe(25)
    expect((await endpointsOf(running)).map((e) => e.id).sort()).toEqual(after.map((e) => e.id).sort())
    expect(existsSync(running.state)).toBe(true)
  })

  test('picky devices name what they refuse, calls come and go, flapping ones come back, the past is sent once', async () => {
    const running = await newRunning()
    const { call } = running
    const options = ['--reject-config', '100%', '--flap', '100%', '--speed', '10000', '--interval', '1']
    const fleet = await running.simulate(...options, '--backfill', `${days}d`)
    const [, sent = ''] = await untilPrinted(fleet, historySent)
    expect(Number(sent.replace(',', ''))).toBeGreaterThanOrEqual(12 * 288 * days)
    const config = { nightMode: true, bluetooth: false, time24h: false, usbAudio: true, brightness: 0.3 }
    // Each is picky about keys of its own, some about none of these.
    for (const { id } of await endpointsOf(running)) await call('POST', `/endpoints/${id}/config`, config)
    const states = await until('an answer of each', async () => {
      const all = (await endpointsOf(running)).map(({ id }) => call('GET', `/endpoints/${id}/config/state`))
      const answered = await Promise.all(all)
      return answered.every(({ state }) => state !== 'PENDING') && answered
    })
    const refusals = states
      .filter(({ state }) => state === 'FAILED')
      .flatMap(({ rejected }) => Object.entries(rejected))
    expect(refusals.length).toBeGreaterThan(0)
    for (const [key, reason] of refusals) expect(reason).toMatch(`cannot change ${key} `)
    const inCall = async () =>
      new Set((await endpointsOf(running)).filter((e) => e.inCallStatus !== 'NONE').map((e) => e.id))
    const calling = await until(
      'a call, also if this is a Friday evening',
      async () => {
        const ids = await inCall()
        return ids.size > 0 && ids
      },
      { timeoutMs: 40_000 },
    )
    await until('its end', async () => {
      const now = await inCall()
      return [...calling].some((id) => !now.has(id))
    })
    await until('a lost connection', async () => (await endpointsOf(running)).some((e) => !e.connected), {
      timeoutMs: 25_000,
    })
    await until('its return', async () => (await endpointsOf(running)).every((e) => e.connected))
    await fleet.stop('SIGINT')

    const again = await running.simulate('--backfill', `${days}d`)
    const [, more = ''] = await untilPrinted(again, historySent)
    expect(Number(more), 'what an earlier run sent is not sent again').toBeLessThan(12 * 10)
  })

  test('says in a sentence what is wrong', async () => {
    const { url, org, key } = server
    const reader = await site.json('keys', 'create', '--org', org, '--name', 'Reader', '--scope', 'read')
    const state = join(site.dataDir, 'fleet.json')
    const run = (options: Record<string, string>) =>
      runHere([
        'simulate',
        ...size,
        ...Object.entries({ url, org, key, state, ...options }).flatMap(([name, value]) => [`--${name}`, value]),
      ])
    const wrong: [Record<string, string>, RegExp][] = [
      [{ key: `${key}x` }, /at http:\S+ does not accept this --key/],
      [{ key: reader.key }, /no write access/],
      [{ org: 'nobody' }, /no access to organisation nobody/],
      [{ url: 'http://127.0.0.1:9' }, /http:\/\/127\.0\.0\.1:9 does not answer .*roomkeeper serve/],
      [{ url: 'nowhere' }, /must be an address such as/],
      [{ flap: '1' }, /share from 0% to 100%/],
      [{ backfill: 'long' }, /duration such as 7d/],
      [{ endpoints: '0' }, /whole number from 1/],
      [{ endpoints: '3000' }, /--rooms is too small/],
    ]
    for (const [options, sentence] of wrong) expectRefusal(await run(options), sentence)
    writeFileSync(state, '{"not":"ours"}')
    expectRefusal(await run({}), /is not a state file of the simulator/)
    expect(readFileSync(state, 'utf8')).toBe('{"not":"ours"}')
  })
})

// `roomkeeper demo` as a real program, with the commands of docs/first-steps.md.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { need } from '../support/debian.ts'
import { send } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { type Site, siteForTest, untilPrinted } from '../support/program.ts'

/** Runs the commands of docs/first-steps.md that need the demo, each until it has printed the line that the page shows. */
async function runCommandsOfFirstSteps({ url, org, key }: { url: string; org: string; key: string }): Promise<void> {
  need('curl')
  const page = readFileSync(join(import.meta.dirname, '../../docs/first-steps.md'), 'utf8')
  const blocks = [...page.matchAll(/```sh\n([^`]*)```\n```text\n([^`]*)```/g)]
  const printsLine = async (part: string, line: string) => {
    const [, command = '', shown = ''] = blocks.find(([, text]) => text?.includes(part)) ?? []
    expect(shown.split('\n')).toContain(line)
    const env = { PATH: process.env.PATH, ORG: org, KEY: key }
    const script = `exec ${command.replace('http://127.0.0.1:8080', url)}`
    const curl = spawn('bash', ['-c', script], { env, timeout: 60_000, stdio: ['ignore', 'pipe', 'inherit'] })
    const lines: string[] = []
    for await (const text of createInterface(curl.stdout)) {
      lines.push(text)
      if (text === line) break
    }
    curl.kill()
    expect(lines).toContain(line)
  }
  await printsLine('types=sample', 'event: sample')
  const columns = 'start,day,people_min,people_max,people_mean,people_count,temp_min,temp_max,temp_mean,temp_count'
  await printsLine('sensor/history', columns)
}

/** A lamp ends after two minutes, and a camera is lost after five. */
async function showsNewRules({ url, org, key }: { url: string; org: string; key: string }): Promise<void> {
  const openRules = async () => {
    const { body } = await send(url, 'GET', `/v1/orgs/${org}/incidents`, { key })
    return body.incidents.map(({ rule }: { rule: string }) => rule)
  }
  const rules = expect.arrayContaining(['device.fault', 'peripheral.missing'])
  await expect.poll(openRules, { timeout: 9 * 60_000, interval: 5_000 }).toEqual(rules)
}

/** The demo has lived through a week with outages, which people dealt with. */
async function showsItsPast({ url, org, key }: { url: string; org: string; key: string }): Promise<void> {
  const read = async (path: string) => (await send(url, 'GET', `/v1/orgs/${org}/${path}`, { key })).body
  const { incidents } = await read('incidents?state=all')
  const past = incidents.filter(({ rule }: { rule: string }) => rule.startsWith('device.'))
  const states = past.map(({ state, title }: { state: string; title: string }) => `${state} ${title}`)
  expect(states).toEqual(
    expect.arrayContaining([
      'ACKNOWLEDGED Basement (Oslo) is offline',
      'OPEN Pad in Fjord (Oslo) is offline',
      'OPEN Canteen (San Francisco) is offline',
      'RESOLVED New York is offline: 11 devices',
      'RESOLVED Bar in Aurora (Oslo) keeps disconnecting',
    ]),
  )
  expect(states.filter((state: string) => state.startsWith('RESOLVED')).length).toBeGreaterThanOrEqual(6)
  const { locations } = await read('locations')
  expect(locations.map(({ timezone }: { timezone: string }) => timezone)).toContain('America/New_York')
  const { users } = await read('users')
  expect(users.map(({ role, state }: { role: string; state: string }) => `${state} ${role}`)).toEqual([
    'ACTIVE owner',
    'ACTIVE admin',
    'ACTIVE operator',
    'ACTIVE viewer',
  ])
  const { jobs } = await read('jobs')
  expect(jobs).toHaveLength(2)
  expect((await read('recurring_jobs')).recurringJobs).toMatchObject([{ name: 'Restart every night', state: 'ACTIVE' }])
  const [{ id }] = (await read('rooms')).rooms.filter(({ name }: { name: string }) => name === 'Juniper')
  expect((await read(`rooms/${id}`)).location.name).toBe('London')
  const { channels } = await read('channels')
  expect(channels.map(({ name }: { name: string }) => name)).toEqual(['Facilities team'])
}

/** A week would take half of the CPU of this suite; the demo sends no more than the server keeps. */
const history = isFullForm
  ? { options: [], sent: /^History sent: 10[45],\d{3} samples/m }
  : { options: ['--sample-retention', '1'], sent: /^History sent: 1[45],\d{3} samples/m }

test('demo shows a living fleet with one command, and the same one again', async () => {
  const site = await siteForTest()
  const args = ['demo', '--port', '0', '--data-dir', join(site.dataDir, 'demo'), ...history.options]
  const start = async (program: ReturnType<Site['launchHere']>) => {
    const [, url = ''] = await untilPrinted(program, /^Roomkeeper is ready at (\S+)$/m)
    const [, org = ''] = await untilPrinted(program, /^ {2}Organisation +(\S+)$/m)
    const [, key = ''] = await untilPrinted(program, /^ {2}Key +(\S+)$/m)
    await untilPrinted(program, /^60 of 60 devices in 24 rooms are connected/m)
    const { body } = await send(url, 'GET', `/v1/orgs/${org}/endpoints`, { key })
    const direct = body.endpoints.filter((e: { via?: string; kind?: string }) => !e.via && e.kind !== 'GATEWAY')
    expect(direct.filter((e: { connected: boolean }) => e.connected)).toHaveLength(60)
    const kinds = new Set(body.endpoints.map((e: { kind: string }) => e.kind))
    for (const kind of ['CODEC', 'DISPLAY', 'PROJECTOR', 'SENSOR', 'POWER']) expect(kinds).toContain(kind)
    await untilPrinted(program, /^A gateway manages a codec and a projector in the room Studio/m)
    const gatewayDevices = async () => {
      const { endpoints } = (await send(url, 'GET', `/v1/orgs/${org}/endpoints`, { key })).body
      const managed = endpoints.filter(({ via, connected }: { via?: string; connected: boolean }) => via && connected)
      return managed.map(({ model }: { model: string }) => model).toSorted()
    }
    await expect.poll(gatewayDevices).toEqual(['LX-400', 'Room Kit Pro'])
    return { program, url, org, key }
  }
  const first = await start(site.launch(args))
  await untilPrinted(first.program, /^Message to Facilities team: test$/m)
  await showsItsPast(first)
  const commands = runCommandsOfFirstSteps(first)
  await untilPrinted(first.program, history.sent)
  await commands
  if (isFullForm) await showsNewRules(first)
  expect(await first.program.stop('SIGINT')).toMatchObject({ code: 0 })
  const second = await start(site.launchHere([...args, '--mqtt-port', '0']))
  expect([second.org, second.key]).toEqual([first.org, first.key])
  await showsItsPast(second)
  const ended = await second.program.stop('SIGINT')
  expect(ended).toMatchObject({ code: 0 })
  expect(ended.stdout).toContain('Run the same command again to continue.')
}, 900_000)

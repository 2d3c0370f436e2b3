// Runs docs/examples.md: each task in curl, TypeScript and Python, each language in an organisation of its own on one server. In the short
// form each task is run in one of them, in turn.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { dayMs, hourMs } from '../../src/contract/durations.ts'
import { scopes as callerScopes } from '../../src/contract/people/permissions.ts'
import { buildLibrary, libraries } from '../../tools/packages/library.ts'
import { createBodyServer } from '../support/body-server.ts'
import { Receiver } from '../support/channels/receiver.ts'
import { need } from '../support/debian.ts'
import { newDevice, TestDevice } from '../support/devices/test-device.ts'
import { freePort } from '../support/free-port.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../support/harness.ts'
import { cut, incidentsOnce } from '../support/incidents/device-incidents.ts'
import { answerConfig } from '../support/jobs/job-devices.ts'
import { isFullForm } from '../support/long-form.ts'
import { testProgramFolder, until } from '../support/program.ts'
import { wireTo } from '../support/severable-proxy.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/examples.md'), 'utf8')
const languages = ['sh', 'ts', 'py'] as const
type Language = (typeof languages)[number]
const fileNames = { sh: 'task.sh', ts: 'task.mts', py: 'task.py' }

/** The blocks of each heading, by language. */
const tasks = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = ''] = section.split('\n')
      const blocks = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
      const inLanguage = (wanted: string) =>
        blocks.flatMap(([, language, text = '']) => (language === wanted ? [text] : []))
      return [title, inLanguage] as const
    }),
)
const blocksOf = (title: string, language: string): string[] => {
  const inLanguage = tasks.get(title)
  if (!inLanguage) throw new Error(`docs/examples.md has no task "${title}".`)
  return inLanguage(language)
}
const [, apiFunction = ''] = blocksOf('Before you begin', 'sh')
const setup = 'Before you begin'
const titles = [...tasks.keys()].filter((title) => title !== setup)

/** Has the packages that the examples import, as they are released. */
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-examples-'))
let harness: Harness
let worlds: readonly World[] = []
beforeAll(async () => {
  need('curl', 'jq', 'openssl', 'python3')
  const packages = join(folder, 'node_modules')
  mkdirSync(packages)
  symlinkSync(join(root, 'node_modules/standardwebhooks'), join(packages, 'standardwebhooks'))
  const [client] = libraries
  if (client?.name !== 'roomkeeper-client') throw new Error('The first library is not the client.')
  await buildLibrary(client, join(packages, client.name))
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
  worlds = await Promise.all(languages.map((language) => World.make(language, packages)))
})
afterAll(async () => {
  for (const world of worlds) world.remove()
  await harness.close()
  rmSync(folder, { recursive: true })
})
const worldOf = (wanted: Language): World => worlds.find(({ language }) => language === wanted) as World

test('every task is solved in every language', () => {
  expect(titles).toHaveLength(11)
  for (const title of titles) for (const language of languages) expect(blocksOf(title, language), title).not.toEqual([])
})

test('the solutions in TypeScript compile in a strict project', async () => {
  for (const [number, title] of [setup, ...titles].entries()) {
    const [text = ''] = blocksOf(title, 'ts')
    writeFileSync(join(folder, number === 0 ? 'roomkeeper.mts' : `task-${number}.mts`), text)
  }
  const compilerOptions = {
    ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, noUnusedLocals: true },
    ...{ target: 'esnext', module: 'nodenext', types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }))
  const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
    (error) => error,
  )
  expect(stdout).toBe('')
})

/** The scopes of a key, by task, as the table of the page says. */
const scopesOf = new Map(
  [...page.matchAll(/^\| \[(.+)\]\(#.+\) \| (.+) \|$/gm)].map(([, title = '', scopes = '']) => [
    title,
    scopes.split(', '),
  ]),
)

test('the table has every task', () => {
  expect([...scopesOf.keys()]).toEqual(titles)
})

const dayBefore = (days: number) => new Date(harness.clock.now() - days * dayMs).toISOString().slice(0, 10)
/** The month of the page is a window around today. */
const today = (text: string) => text.replaceAll('2026-10-01', dayBefore(3)).replaceAll('2026-11-01', dayBefore(-1))

/** An organisation with rooms and devices, and a folder with the files that the examples share. */
class World {
  readonly language: Language
  readonly org: TestOrg
  readonly bar: TestDevice
  readonly #folder = mkdtempSync(join(tmpdir(), 'roomkeeper-examples-'))

  private constructor(language: Language, org: TestOrg, bar: TestDevice, packages: string) {
    this.language = language
    this.org = org
    this.bar = bar
    const bin = join(this.#folder, 'bin')
    mkdirSync(bin)
    const program = join(testProgramFolder, 'bin/roomkeeper.js')
    writeFileSync(join(bin, 'roomkeeper-cli'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, {
      mode: 0o755,
    })
    symlinkSync(packages, join(this.#folder, 'node_modules'))
    this.write('roomkeeper.mts', blocksOf(setup, 'ts')[0] ?? '')
    this.write('roomkeeper.py', blocksOf(setup, 'py')[0] ?? '')
  }

  /** Fjord is healthy, the only device of Bay is away, and so is one of two devices of Skog. */
  static async make(language: Language, packages: string): Promise<World> {
    const org = await harness.newOrg()
    const put = await org.call('PUT', '/incident_rules/device.offline', { body: { holdMinutes: 0 } })
    expect(put.status, put.text).toBe(200)
    const body = { name: 'Oslo HQ', timezone: 'Europe/Oslo' }
    const locationId = (await org.call('POST', '/locations', { body })).body.id
    const newRoom = async (name: string, tags: string[] = []) =>
      (await org.call('POST', '/rooms', { body: { name, locationId, tags } })).body.id as number
    const roomIds = [await newRoom('Fjord', ['huddle']), await newRoom('Bay'), await newRoom('Skog')]
    const [fjord = 0, bay = 0, skog = 0] = roomIds
    const devices = await Promise.all([fjord, bay, skog, skog].map((roomId) => newDevice(harness, org, { roomId })))
    const [bar, ...others] = devices as [TestDevice, TestDevice, TestDevice, TestDevice]
    await bar.publish('sample', {
      samples: [{ timestamp: Math.floor(harness.clock.now() / 1000), co2: 600, people: 3 }],
    })
    await cut(org, others[0], others[1])
    return new World(language, org, bar, packages)
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text)
  }

  read(name: string): string {
    return readFileSync(join(this.#folder, name), 'utf8')
  }

  /** Starts the solution of a task. */
  async start(title: string, env: Record<string, string> = {}, replace = (text: string) => text): Promise<Run> {
    const [text = ''] = blocksOf(title, this.language).slice(-1)
    this.write(fileNames[this.language], replace(this.language === 'sh' ? apiFunction + text : text))
    const [program, ...args] = {
      sh: ['bash', '-eo', 'pipefail'],
      ts: [process.execPath],
      py: ['python3'],
    }[this.language] as [string, ...string[]]
    const child = spawn(program, [...args, fileNames[this.language]], {
      cwd: this.#folder,
      env: {
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        PATH: `${join(this.#folder, 'bin')}:${process.env.PATH}`,
        ROOMKEEPER_URL: harness.url,
        ROOMKEEPER_ORG: this.org.id,
        ROOMKEEPER_KEY: await this.#keyFor(title),
        ...env,
      },
      // The solution leads a process group, so its end can end the programs that it has started.
      detached: true,
    })
    return new Run(child)
  }

  /** Returns a key that has the scopes of the task, and no others. */
  #keyFor(title: string): Promise<string> {
    const needed = scopesOf.get(title) ?? []
    const scopes = callerScopes.filter((scope) => needed.includes(scope))
    return this.org.newKey({ name: title, scopes, manage: needed.includes('manage') })
  }

  /** Runs the solution of a task to its end. Returns what it printed. */
  async run(...args: Parameters<World['start']>): Promise<string> {
    const run = await this.start(...args)
    const code = await run.ended
    expect(code, run.complaints).toBe(0)
    return run.printed
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

class Run {
  printed = ''
  complaints = ''
  readonly ended: Promise<number | null>
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout?.setEncoding('utf8').on('data', (piece) => {
      this.printed += piece
    })
    child.stderr?.setEncoding('utf8').on('data', (piece) => {
      this.complaints += piece
    })
    this.ended = once(child, 'close').then(([code]) => code)
  }

  async stop(): Promise<void> {
    const { pid } = this.#child
    if (pid !== undefined && this.#child.exitCode === null) process.kill(-pid, 'SIGKILL')
    await this.ended
  }
}

const shown = (title: string) => blocksOf(title, 'text')[0]

const isInForm = (language: Language, title: string): boolean =>
  isFullForm || languages[titles.indexOf(title) % languages.length] === language

describe.each(languages)('in %s', (language) => {
  let world: World
  beforeAll(() => {
    world = worldOf(language)
  })
  /** The test gets the title of its task. */
  const testTask = (name: string, title: string, run: (title: string) => Promise<void>) =>
    test.runIf(isInForm(language, title))(name, () => run(title))

  testTask('rooms that are not healthy are listed', 'List the rooms that are not healthy', async (title) => {
    expect(await world.run(title)).toBe(shown(title))
  })

  testTask('incidents are followed, also over an interruption', 'Follow incidents as they happen', async (title) => {
    const { org } = world
    const [incident] = await incidentsOnce(org, 'the room that is offline', (all) =>
      all.some(({ severity }) => severity === 'CRITICAL'),
    ).then((all) => all.filter(({ severity }) => severity === 'CRITICAL'))
    const wire = await wireTo(harness.url)
    const run = await world.start(title, { ROOMKEEPER_URL: wire.url })
    onTestFinished(() => run.stop())
    const comment = async () => {
      const reply = await org.call('POST', `/incidents/${incident.id}/comments`, { body: { text: 'Still away.' } })
      expect(reply.status, reply.text).toBe(200)
    }
    const line = `${incident.id} OPEN\n`
    expect(shown(title)).toMatch(/^\d+ OPEN\n$/)
    await until('the stream is open', async () => {
      await comment()
      return run.printed.startsWith(line)
    })
    if (language !== 'sh') {
      wire.cut()
      const before = run.printed.length
      await comment()
      wire.mend()
      await until('the event of the interruption', () => run.printed.length > before)
      expect(run.complaints).not.toContain('Events are missing')
    }
    expect(run.printed.replaceAll(line, '')).toBe('')
  })

  testTask('critical incidents are acknowledged', 'Acknowledge incidents', async (title) => {
    expect(await world.run(title)).toBe(shown(title))
    const { incidents } = (await world.org.call('GET', '/incidents')).body
    expect(incidents.map(({ severity, state }: Record<string, string>) => `${severity} ${state}`).toSorted()).toEqual([
      'CRITICAL ACKNOWLEDGED',
      'WARNING OPEN',
    ])
    if (language === 'sh') expect(await world.run(title), 'nothing is left').toBe('')
  })

  testTask('a device is enrolled, and its credential works', 'Enrol a device', async (title) => {
    // A serial belongs to one organisation.
    const serial = `LAB-${language}`
    const printed = await world.run(title, {}, (text) => text.replace('LAB-0001', serial))
    const { port } = new URL(harness.url)
    expect(printed).toBe(shown(title)?.replace('1883', String(harness.mqttPort)).replace('8080', port))
    const device = new TestDevice(harness.mqttPort, serial, 'Lab sensor', JSON.parse(world.read('device.json')))
    await device.connect()
    expect((await world.org.call('GET', `/endpoints/${device.id}`)).body).toMatchObject({ serial, connected: true })
    await device.close()
    await world.org.call('DELETE', `/endpoints/${device.id}`)
  })

  testTask('the history of all rooms is saved', 'Read a month of sensor history', async (title) => {
    expect(await world.run(title, {}, today)).toBe(shown(title))
    const [, row = '', end] = world.read('october.csv').split('\r\n')
    expect(row).toMatch(/^1,Fjord,1,Oslo HQ,[^,]+,600,600,600,1,3,3,3,1,,,,$/)
    expect(end).toBe('')
  })

  testTask(
    'a setting is changed, and the end is waited for',
    'Change a setting everywhere, and wait',
    async (title) => {
      const [printed, { config }] = await Promise.all([world.run(title), answerConfig(world.bar)])
      expect(printed).toBe(shown(title))
      expect(config).toEqual({ nightMode: true })
    },
  )

  testTask(
    'messages are received, and forged ones are refused',
    'Receive messages, and check who sent them',
    async (title) => {
      const port = await freePort()
      const receiver = await Receiver.start()
      const [create = ''] = blocksOf(title, 'sh')
      expect(create).toContain('http://127.0.0.1:9090/')
      const { org } = world
      const url = language === 'sh' ? receiver.url : `http://127.0.0.1:${port}/`
      const { id, secret } = (
        await org.call('POST', '/channels', { body: { name: 'My program', kind: 'webhook', url } })
      ).body
      const atPort = (text: string) => text.replace('9090', String(port))
      const env = { WEBHOOK_SECRET: secret }
      const sendTest = async () => {
        const { state } = (await org.call('POST', `/channels/${id}/test`)).body
        return state
      }
      if (language === 'sh') {
        expect(await sendTest()).toBe('DELIVERED')
        const { text = '', headers = {} } = receiver.received[0] ?? {}
        const given = {
          ...env,
          ID: String(headers['webhook-id']),
          TIMESTAMP: String(headers['webhook-timestamp']),
          SIGNATURE: String(headers['webhook-signature']),
        }
        world.write('body.json', text)
        expect(await world.run(title, given)).toBe(shown(title))
        world.write('body.json', text.replace('test', 'tent'))
        const forged = await world.start(title, given)
        expect(await forged.ended).toBe(1)
        expect(forged.printed + forged.complaints).toBe('not genuine\n')
        return
      }
      const run = await world.start(title, env, atPort)
      onTestFinished(() => run.stop())
      const forge = () =>
        fetch(url, {
          method: 'POST',
          body: '{}',
          headers: {
            'webhook-id': 'msg_1',
            'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
            'webhook-signature': 'v1,Zm9yZ2Vk',
          },
        }).then(
          ({ status }) => status,
          () => undefined,
        )
      expect(await until('the receiver answers', forge)).toBe(401)
      expect(await sendTest()).toBe('DELIVERED')
      await until('it is printed', () => run.printed !== '')
      expect(run.printed).toBe(shown(title))
    },
  )

  testTask(
    'rooms become what a document says, and a repeat changes nothing',
    'Keep rooms as another system has them',
    async (title) => {
      expect(await world.run(title)).toBe(shown(title))
      if (language === 'sh') expect(JSON.parse(await world.run(title))).toMatchObject({ done: 0, notDone: [] })
      const { rooms } = (await world.org.call('GET', '/rooms')).body
      expect(rooms.map(({ name }: { name: string }) => name)).toEqual(['Fjord', 'Bay', 'Skog', 'Sal'])
    },
  )

  testTask('a list of several pages is read to its end', 'Read a long list page by page', async (title) => {
    const smallPages = (text: string) => today(text).replaceAll('1000', '5')
    const printed = await world.run(title, {}, smallPages)
    const audit = await world.org.audit()
    expect(audit.length).toBeGreaterThan(10)
    expect(printed.trim()).toBe(String(audit.length))
    const lines = world.read('audit.jsonl').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(audit.map(({ id }) => id))
  })

  testTask(
    'a request whose answer was lost, and that was refused, is done once',
    'Try again without doing it twice',
    async (title) => {
      let count = 0
      // Loses the first answer, and asks the second request to wait.
      const proxy = createBodyServer(async (request, body, response) => {
        count++
        if (count === 2) return response.writeHead(503, { 'Retry-After': '1' }).end()
        const headers = Object.fromEntries(
          ['authorization', 'content-type', 'idempotency-key'].map((name) => [name, String(request.headers[name])]),
        )
        const answer = await fetch(harness.url + request.url, { method: 'POST', headers, body })
        if (count === 1) return request.socket.destroy()
        return response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
      })
      await once(proxy.listen(0, '127.0.0.1'), 'listening')
      onTestFinished(() => void proxy.close())
      const { port } = proxy.address() as AddressInfo
      expect(await world.run(title, { ROOMKEEPER_URL: `http://127.0.0.1:${port}` })).toBe(shown(title))
      expect(count).toBe(3)
      const { rooms } = (await world.org.call('GET', '/rooms')).body
      expect(rooms.filter(({ name }: { name: string }) => name === 'Elv')).toHaveLength(1)
    },
  )
})

const month = 'Report the availability of a month'
const ofMonth = languages.filter((language) => isInForm(language, month))
test.each(ofMonth)('the availability of a location is reported in %s', async (language) => {
  // The outage of Bay lasts long enough to count. Signatures of messages would be too far from the real time after this.
  harness.clock.advance(hourMs)
  const world = worldOf(language)
  const printed = await world.run(month, {}, today)
  const values = /^Oslo HQ: ([\d.]+) %, (\d+) outages\n$/
  expect(shown(month)).toMatch(values)
  const [, availability, outages] = values.exec(printed) ?? []
  const query = `from=${dayBefore(3)}&to=${dayBefore(-1)}&hours=always&groupBy=location`
  const [row] = (await world.org.call('GET', `/reports/availability?${query}`)).body.rows
  expect(Number(availability), printed).toBeCloseTo(100 * row.availability, 0)
  expect(Number(availability)).toBeLessThan(90)
  expect(Number(outages)).toBe(row.outages)
})

// A gateway in the process of the test, enrolled in a room of a real server, with the line driver under the name of a real one.
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ConnectionTimes } from '../../../src/device/reconnect.ts'
import type { DriverTable } from '../../../src/gateway/driver-table.ts'
import { type DeviceRecord, GatewayFolder } from '../../../src/gateway/folder.ts'
import { runGateway } from '../../../src/gateway/gateway.ts'
import { parseRange, Reach } from '../../../src/gateway/reach.ts'
import type { SourceTable } from '../../../src/gateway/sources/source-table.ts'
import type { Harness, Reply, TestOrg } from '../harness.ts'
import { until } from '../program.ts'
import type { LineDevice } from './line-device.ts'
import { lineDriver } from './line-driver.ts'

export const newGatewayFolder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'roomkeeper-gateway-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export const copyOfFolder = (path: string): string => {
  const copy = newGatewayFolder()
  cpSync(path, copy, { recursive: true })
  return copy
}

/** The text of every file of a folder. */
export const folderContent = (path: string): string =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')

const readJson = (file: string) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined)

/** The ids of the devices that the folder has files of. A GatewayFolder would delete what the gateway is writing. */
export const deviceIdsIn = (folder: string): string[] =>
  readdirSync(join(folder, 'devices')).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -5)] : []))

export const recordIn = (folder: string, id: string): DeviceRecord =>
  readJson(join(folder, 'devices', `${id}.json`)) ?? {}

/** Changes what a gateway has saved while it was off. */
export const writeRecord = (folder: string, id: string, record: DeviceRecord): void =>
  writeFileSync(join(folder, 'devices', `${id}.json`), JSON.stringify(record))

interface RunningGateway {
  readonly lines: string[]
  /** Resolves when it has ended, with the error if it failed. */
  readonly ended: Promise<Error | undefined>
  stop(): Promise<void>
}

interface GatewaySettings {
  readonly code?: string
  readonly drivers?: DriverTable
  readonly sources?: SourceTable
  readonly restartWithinMs?: number
  readonly connection?: ConnectionTimes
}

export function runGatewayHere(
  url: string,
  folder: string,
  { code, drivers = {}, sources = {}, ...settings }: GatewaySettings = {},
): RunningGateway {
  const end = new AbortController()
  const lines: string[] = []
  const ended = runGateway(
    {
      url,
      code,
      folder: GatewayFolder.open(folder),
      reach: new Reach([parseRange('127.0.0.0/8')]),
      version: '0.0.0-test',
      drivers: { roomos: lineDriver, ...drivers },
      sources,
      ...settings,
      log: (line) => lines.push(line),
    },
    end.signal,
  ).then(
    () => undefined,
    (error: Error) => error,
  )
  const stop = async () => {
    end.abort()
    await ended
  }
  onTestFinished(stop)
  return { lines, ended, stop }
}

/** A room with a gateway, and the calls of the API about its items. */
export class GatewayWorld {
  readonly org: TestOrg
  readonly roomId: number
  readonly code: string
  readonly folder: string
  readonly url: string
  id = ''
  running: RunningGateway

  private constructor(harness: Harness, org: TestOrg, room: { id: number; dec: string }, settings: GatewaySettings) {
    this.org = org
    this.url = harness.url
    this.roomId = room.id
    this.code = room.dec
    this.folder = newGatewayFolder()
    this.running = runGatewayHere(harness.url, this.folder, { ...settings, code: room.dec })
  }

  static async start(harness: Harness, org: TestOrg, settings: GatewaySettings = {}): Promise<GatewayWorld> {
    const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
    const world = new GatewayWorld(harness, org, room, settings)
    const serial = () => readJson(join(world.folder, 'gateway.json'))?.serial
    const found = await until('the gateway is connected', async () => {
      const { gateways } = (await org.call('GET', '/gateways')).body
      return gateways.find(
        (one: { serial: string; state: string }) => one.serial === serial() && one.state === 'ONLINE',
      )
    })
    world.id = found.id
    return world
  }

  /** Starts it again with the same folder. */
  async restart(settings: GatewaySettings = {}): Promise<void> {
    await this.running.stop()
    this.running = runGatewayHere(this.url, this.folder, settings)
  }

  call(method: string, path: string, body?: object): Promise<Reply> {
    return this.org.call(method, `/gateways/${this.id}/devices${path}`, body && { body })
  }

  async add(device: Pick<LineDevice, 'port' | 'password'>, more: object = {}): Promise<string> {
    const { port, password } = device
    const body = {
      driver: 'roomos',
      host: '127.0.0.1',
      port,
      username: 'roomkeeper',
      secret: password,
      roomId: this.roomId,
      ...more,
    }
    const { status, body: item, text } = await this.call('POST', '', body)
    if (status !== 200) throw new Error(text)
    return item.id
  }

  item = async (id: string) => (await this.call('GET', `/${id}`)).body

  /** The item, as soon as it has the state. */
  async reaches(id: string, state: string) {
    let seen: unknown
    return until(`the item is ${state}`, async () => {
      const item = await this.item(id)
      seen = item
      return item.state === state && item
    }).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(seen)}\n${this.running.lines.slice(-20).join('\n')}`)
    })
  }

  endpoint = async (id: string) => (await this.org.call('GET', `/endpoints/${id}`)).body
}

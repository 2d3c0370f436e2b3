// `roomkeeper gateway` and `serve --gateway` as processes: what they refuse, what they get, and when they end.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FakeCodec } from '../../src/simulator/hardware-fakes/codec/fake-codec.ts'
import { brokerPassword, brokerUser, startTestBroker } from '../support/drivers/mosquitto.ts'
import { newGatewayFolder } from '../support/gateway/gateway-world.ts'
import { engine } from '../support/harness.ts'
import { type Server, type Site, siteForTest, until } from '../support/program.ts'
import { runHere } from '../support/run-here.ts'
import { UpstreamProxy } from '../support/sources/upstream-proxy.ts'

test('`gateway` refuses a plain address, a network that is never reached, and a start without a code', async () => {
  const folder = ['--data-dir', newGatewayFolder()]
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(['gateway', ...args, ...folder])
    expect(code).not.toBe(0)
    return stdout + stderr
  }
  expect(await refused('--url', 'http://rooms.example.org')).toContain('HTTPS only')
  expect(await refused('--url', 'rooms.example.org')).toContain('https://rooms.example.org')
  expect(await refused()).toContain('--url')
  const url = ['--url', 'http://127.0.0.1:9']
  expect(await refused(...url, '--reach', '169.254.0.0/16')).toContain('never reached')
  expect(await refused(...url, '--reach', 'office')).toContain('10.20.0.0/16')
  expect(await refused(...url)).toContain('Give it the enrolment code')
})

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    // A process that has ended, and that its parent has not asked about, is still listed.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** The gateway that the server has started: its child with the command. */
const childOf = (server: Server): number | undefined =>
  readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number)
    .find(
      (pid) => existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('gateway'),
    )

interface GatewayAnswer {
  readonly id: string
  readonly state: string
  readonly reach: string[]
  readonly roomId: number
}

async function callApi(server: Server, path: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
  const response = await fetch(`${server.url}/v1/orgs/${server.org}${path}`, { ...init, headers })
  return response.json() as Promise<{ id: number; state: string; reason?: string; gateways: GatewayAnswer[] }>
}

/** Runs another program with the permissions of the gateway: it can read and write in the gateway's folder, and nothing of the server. */
function expectOnlyOwnFiles(pid: number, { dataDir, secretKeyFile }: Site): void {
  const [node = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  const flags = args.slice(0, args.indexOf('gateway') - 1)
  const run = (code: string) => spawnSync(node, [...flags, '--eval', code], { encoding: 'utf8' })
  const [own, key] = [join(dataDir, 'gateway/gateway.json'), secretKeyFile].map((file) => JSON.stringify(file))
  expect(existsSync(secretKeyFile)).toBe(true)
  expect(run(`fs.accessSync(${own}, fs.constants.R_OK | fs.constants.W_OK)`)).toMatchObject({ status: 0, stderr: '' })
  const database = JSON.stringify(join(dataDir, 'roomkeeper.db'))
  for (const code of [
    `fs.readFileSync(${key})`,
    `fs.writeFileSync(${key}, '')`,
    `fs.readFileSync(${database})`,
    `fs.readFileSync('/proc/' + process.ppid + '/environ')`,
    `fs.symlinkSync(${key}, ${JSON.stringify(join(dataDir, 'gateway/link'))})`,
    `child_process.execFileSync('cat', [${key}])`,
    `new worker_threads.Worker('0', { eval: true })`,
  ])
    expect(run(code), code).toMatchObject({ status: 1, stderr: expect.stringContaining('ERR_ACCESS_DENIED') })
}

/** Manages a codec, and searches its password, and the one of a test, in everything that is written. */
async function expectSecretsNowhere(server: Server, site: Site, { id, roomId }: GatewayAnswer) {
  const [secret, otherSecret] = ['planted-codec-secret', 'planted-test-secret']
  const codec = await FakeCodec.start({ password: secret })
  onTestFinished(() => codec.stop())
  const { port, fingerprint } = codec
  const target = { driver: 'roomos', host: '127.0.0.1', port, username: 'admin', fingerprint }
  const post = (path: string, body: object) => callApi(server, path, { method: 'POST', body: JSON.stringify(body) })
  const at = `/gateways/${id}/devices`
  expect(await post(`${at}/test`, { ...target, secret: otherSecret })).toMatchObject({ state: 'REFUSED' })
  const item = await post(at, { ...target, secret, roomId })
  await until('it is connected', async () => (await callApi(server, `${at}/${item.id}`)).state === 'CONNECTED')
  expect(codec.signIns.right).toBe(1)
  const ofSources = await connectSources(server, id)

  const backup = join(site.dataDir, '../planted.tar')
  const made = await site.run('backup', backup)
  expect(made).toMatchObject({ code: 0 })
  const files = [backup, ...namesIn(site.dataDir).map((name) => join(site.dataDir, name))]
  expect(files.some((file) => file.endsWith('.db-wal'))).toBe(true)
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const written = [
    ...files.filter((file) => statSync(file).isFile()).map((file) => [file, readFileSync(file, 'latin1')]),
    ...processes.map((pid) => [`the arguments of process ${pid}`, contentOf(`/proc/${pid}/cmdline`)]),
    ...[server.pid, childOf(server)].map((pid) => [
      `the variables of process ${pid}`,
      contentOf(`/proc/${pid}/environ`),
    ]),
    ['the output of the server', server.stdout + server.stderr],
    ['the output of the backup', made.stdout + made.stderr],
  ] as const
  for (const [where, text = ''] of written)
    for (const planted of [secret, otherSecret, ...ofSources])
      expect(text.includes(planted), `${planted} in ${where}`).toBe(false)
}

/** Connects a source of each type, which the permissions of the gateway must allow. Returns what may be found nowhere. */
async function connectSources(server: Server, gatewayId: string): Promise<string[]> {
  const key = 'planted-source-key'
  const upstream = await UpstreamProxy.start('http://127.0.0.1:1')
  // An organisation of Neat Pulse without devices.
  upstream.fault = ({ path }) => ({
    status: 200,
    text: JSON.stringify(path === '/endpoints/sensor' ? { data: [] } : { [path.split(/[/?]/)[1] ?? '']: [] }),
    headers: { 'content-type': 'application/json' },
  })
  const broker = await startTestBroker()
  onTestFinished(() => broker.stop())
  const { cert: clientCertificate, key: clientKey } = broker.client
  const url = `mqtts://127.0.0.1:${broker.mutualPort}`
  const signIn = { username: brokerUser, secret: brokerPassword, authority: broker.cert, clientCertificate, clientKey }
  for (const settings of [
    { type: 'neat-pulse', url: upstream.url, orgId: 'aBcD123', key },
    { type: 'mqtt', url, ...signIn },
  ]) {
    const source = await callApi(server, '/sources', {
      method: 'POST',
      body: JSON.stringify({ ...settings, gatewayId }),
    })
    await until(`the source ${settings.type} is connected`, async () => {
      const { state, reason } = await callApi(server, `/sources/${source.id}`)
      expect(['NEW', 'CONNECTED'], reason).toContain(state)
      return state === 'CONNECTED'
    })
  }
  const keyLines = clientKey.split('\n').filter((line) => line.length > 30 && !line.startsWith('-----'))
  expect(keyLines.length).toBeGreaterThan(1)
  return [key, ...keyLines]
}

const namesIn = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' })

/** Processes end while they are listed. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

test.runIf(engine === 'sqlite')(
  '`serve --gateway` runs a gateway without the secrets of the server, starts it again, and ends it',
  async () => {
    const site = await siteForTest()
    const first = await site.serve()
    const room = await callApi(first, '/rooms', { method: 'POST', body: JSON.stringify({ name: 'Fjord' }) })
    await first.stop()
    const unknown = await site.run(
      'serve',
      '--log-level',
      'silent',
      '--port',
      '0',
      '--gateway',
      `${first.org}/${room.id + 1}`,
    )
    expect(unknown.code).toBe(1)
    expect(unknown.stderr).toContain('does not name a room')

    const flags = ['--gateway', `${first.org}/${room.id}`, '--gateway-reach', '127.0.0.1']
    const hosts = ['--gateway-reach-host', 'broker.example.org,Lora.example.org']
    const launch = (...more: string[]) =>
      site.launch(['serve', '--port', '0', ...site.flags, ...flags, ...hosts, ...more], {
        env: { ROOMKEEPER_SMTP_URL: 'smtp://user:planted-secret@127.0.0.1', ROOMKEEPER_SMTP_FROM: 'a@example.org' },
      })
    const program = launch()
    const [, publicUrl = ''] = await program.printed(/^Roomkeeper is ready at (\S+)$/m)
    const server = Object.assign(program, {
      url: publicUrl.replace('localhost', '127.0.0.1'),
      publicUrl,
      org: first.org,
      key: first.key,
    }) as Server
    const online = async () => {
      const { gateways } = await callApi(server, '/gateways')
      return gateways.length === 1 && gateways[0]?.state === 'ONLINE' && gateways[0]
    }
    const gateway = await until('the gateway is online', online)
    expect(gateway).toMatchObject({
      roomId: room.id,
      reach: ['127.0.0.1/32', 'broker.example.org', 'lora.example.org'],
    })
    const pid = childOf(server) as number
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((line) => line !== '')
    const names = environment.map((line) => line.split('=')[0] ?? '')
    // Node's own are the channel to the server and the names of certificate files.
    expect(names.filter((name) => !/^(?:NODE_CHANNEL_|NODE_EXTRA_CA_CERTS$|SSL_CERT_)/.test(name))).toEqual([
      'ROOMKEEPER_GATEWAY_CODE',
    ])
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('planted-secret')
    expect(statSync(join(site.dataDir, 'gateway')).mode & 0o777).toBe(0o700)
    expectOnlyOwnFiles(pid, site)
    await expectSecretsNowhere(server, site, gateway)

    process.kill(pid, 'SIGKILL')
    const next = await until('it is started again', () => {
      const found = childOf(server)
      return found !== pid && found
    })
    await until('it is online again', online)
    server.signal('SIGKILL')
    await server.exit()
    await until('it ends with a server that was killed', () => !isAlive(next))

    const again = launch()
    await again.printed(/^Roomkeeper is ready at (\S+)$/m)
    const last = await until('it is started', () => childOf(again as Server))
    expect((await again.stop()).code).toBe(0)
    expect(isAlive(last)).toBe(false)
    expect(again.stdout + again.stderr + server.stdout + server.stderr).not.toContain('planted-secret')
  },
)

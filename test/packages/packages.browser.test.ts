// The five packages as their users have them: installed in an empty folder, run, bundled, and checked by a strict compiler. In the
// short form they are unpacked instead of installed, and what npm, a container or a browser make of them is left to the full form.
import { once } from 'node:events'
import { cpSync, existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import * as vite from 'vite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { serveOptions } from '../../src/server/config/options.ts'
import { secretKeyVariable } from '../../src/server/core/secrets.ts'
import { FakeCodec } from '../../src/simulator/hardware-fakes/codec/fake-codec.ts'
import { buildLibrary, libraries } from '../../tools/packages/library.ts'
import { strictBuild } from '../../tools/strict-build.js'
import { closeTabs, openBrowser } from '../support/console/browser.ts'
import { startSnmpd } from '../support/drivers/snmpd.ts'
import { freePort } from '../support/free-port.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { exampleOf, machineNode, PackageShelf, root, runFile } from '../support/packages.ts'
import { printedCommand, ready, siteForTest, until } from '../support/program.ts'
import { everyHandlerProgram } from './every-handler.ts'
import { clientProgram, comparisonWith, deviceProgram } from './type-programs.ts'

const shelf = new PackageShelf()
const pages = createServer((request, response) => {
  response.setHeader('content-type', request.url === '/main.js' ? 'text/javascript' : 'text/html')
  response.end(request.url === '/main.js' ? bundled : '<!doctype html><script type="module" src="/main.js"></script>')
})
let bundled = ''
let origin: string
let service: Harness
let org: TestOrg
const folders = { server: '', gateway: '', cli: '', client: '', device: '' }

beforeAll(async () => {
  await once(pages.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
  await shelf.make()
  ;[folders.server, folders.gateway, folders.cli, folders.client, folders.device, service] = await Promise.all([
    installServer(),
    shelf.install('roomkeeper-gateway'),
    shelf.install('roomkeeper-cli'),
    shelf.install('roomkeeper-client'),
    shelf.install('roomkeeper-device'),
    startHarness({ corsOrigin: [origin] }),
  ])
  org = await service.newOrg()
}, 600_000)
afterAll(async () => {
  pages.close()
  await service?.close()
  shelf.remove()
})

/** The container is made of the same commands as this installation: the RUN lines of the Dockerfile, in an empty folder. */
async function installServer(): Promise<string> {
  const folder = shelf.newFolder('opt-roomkeeper')
  if (!isFullForm) return shelf.unpack('roomkeeper', folder)
  cpSync(shelf.tarball('roomkeeper'), join(folder, 'roomkeeper.tgz'))
  // Packages of the checkout are not downloaded again, and the files belong to the user who runs the tests.
  const env = { ...process.env, npm_config_prefer_offline: 'true' }
  const owner = `${process.getuid?.()}:${process.getgid?.()}`
  for (const line of instructions('RUN')) {
    await runFile('sh', ['-c', line.replace('1000:1000', owner)], { cwd: folder, env })
  }
  return folder
}

const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
const instructions = (name: string) =>
  [...dockerfile.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))].map(([, rest = '']) => rest)

const manifestOf = (folder: string, name: string) =>
  JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'))

/** The links and pictures of a document that lead to no file of its package. */
function brokenLinks(home: string, document: string): string[] {
  const text = readFileSync(join(home, document), 'utf8')
  const targets = [...text.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(home, dirname(document), target)))
    .map((target) => `${document}: ${target}`)
}

describe('the release', () => {
  test('has checksums of all its files, and notes that begin with what its users must do', async () => {
    const { stdout } = await runFile('sha256sum', ['--check', 'SHA256SUMS'], { cwd: shelf.tarballs })
    const names = readdirSync(shelf.tarballs).filter((name) => name !== 'SHA256SUMS')
    expect(stdout.trim().split('\n').toSorted()).toEqual(names.map((name) => `${name}: OK`).toSorted())
    const { version } = manifestOf(folders.server, 'roomkeeper')
    const notes = readFileSync(join(shelf.tarballs, `release-notes-${version}.md`), 'utf8')
    expect(notes).toMatch(
      new RegExp(`^# Roomkeeper ${version}\n[\\s\\S]+?\n### What you must do\n[\\s\\S]+\n### Added\n`),
    )
    expect(notes, 'the section of another version').not.toMatch(/^## /m)
  })
})

describe('roomkeeper', () => {
  test('has the program, the console and the documents, and nothing that only development needs', async () => {
    const home = join(folders.server, 'node_modules/roomkeeper')
    const files = readdirSync(home, { recursive: true, encoding: 'utf8' })
    const needed = [
      'LICENSE',
      'bin/roomkeeper.js',
      'dist/console/index.html',
      'dist/console/index.html.br',
      'dist/program/licenses.md',
    ]
    expect(files).toEqual(expect.arrayContaining([...needed, 'docs/operations.md']))
    expect(files.filter((file) => /\.ts$|^(test|tools|src)\//.test(file))).toEqual([])
    const documents = files.filter((file) => /^(README|docs\/.*)\.md$/.test(file))
    expect(documents.length).toBeGreaterThan(40)
    expect(documents.flatMap((file) => brokenLinks(home, file))).toEqual([])
    const manifest = manifestOf(folders.server, 'roomkeeper')
    expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(['scripts']))
    expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(['devDependencies']))
    const { stdout: version } = await runFile(process.execPath, [join(home, 'bin/roomkeeper.js'), '--version'])
    const { stdout: head } = await runFile('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root })
    expect(version, 'the package knows its commit').toContain(`${manifest.version}+${head.trim()}`)
    for (const [name, version] of Object.entries(manifest.dependencies)) {
      expect(manifestOf(root, name).version, `${name} is installed as it was tested`).toBe(version)
    }
  })

  test.runIf(isFullForm)('has a command, and takes less than 100 MB with its dependencies', async () => {
    const { stdout: version } = await runFile(join(folders.server, 'node_modules/.bin/roomkeeper'), ['--version'])
    expect(version).toContain(manifestOf(folders.server, 'roomkeeper').version)
    const { stdout } = await runFile('du', ['-sm', 'node_modules'], { cwd: folders.server })
    expect(Number.parseInt(stdout, 10), 'megabytes of the installation').toBeLessThan(100)
  })

  test('has a bill of materials with every package that is installed with it or whose code is in it, and no registry', async () => {
    const { version } = manifestOf(folders.server, 'roomkeeper')
    const text = readFileSync(join(shelf.tarballs, `roomkeeper-${version}.cdx.json`), 'utf8')
    expect(text).not.toMatch(/registry|resolved/)
    const { bomFormat, metadata, components } = JSON.parse(text)
    expect([bomFormat, metadata.component.name, metadata.component.version]).toEqual([
      'CycloneDX',
      'roomkeeper',
      version,
    ])
    const listed: string[] = components.map((one: { name: string; version: string }) => `${one.name} ${one.version}`)
    const versionsIn = (folder: string, names: readonly string[]) =>
      names.map((name) => `${name} ${manifestOf(folder, name).version}`)
    expect(listed).toEqual(expect.arrayContaining(versionsIn(root, ['fastify', 'pg', 'kysely', 'react', 'uplot'])))
    expect(listed.filter((name) => /^(vite|vitest|typescript) /.test(name))).toEqual([])
    if (!isFullForm) return
    const lock = JSON.parse(readFileSync(join(folders.server, 'node_modules/.package-lock.json'), 'utf8'))
    const installed = Object.entries<{ version: string }>(lock.packages)
      .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`)
      .filter((name) => name !== `roomkeeper ${version}`)
    expect(installed.length).toBeGreaterThan(100)
    expect(installed.filter((name) => !listed.includes(name))).toEqual([])
  })

  test('runs from node_modules: serves the console and the API, and stops on a signal', async () => {
    const site = await siteForTest()
    const bin = join(folders.server, 'node_modules/roomkeeper/bin/roomkeeper.js')
    const backupDir = join(site.dataDir, 'backups')
    const server = await ready(site.launch(['serve', '--port', '0', '--backup-dir', backupDir, ...site.flags], { bin }))
    expect(server.stdout + server.stderr).not.toMatch(/rk[a-z]?_\w/)
    const page = await fetch(server.url)
    expect(await page.text()).toContain('<title>')
    // The commands that it printed start the installed program, from any folder.
    const paste = async (command: string) => {
      const [, line = ''] = await server.printed(printedCommand(command))
      expect(line).toContain(bin)
      return (await runFile('sh', ['-c', line], { cwd: '/', env: { ...process.env, ...site.variables } })).stdout
    }
    const [, key = ''] = (await paste('keys create')).split('\n')
    const headers = { authorization: `Bearer ${key}` }
    const regions = await fetch(`${server.url}/v1/orgs/${server.org}/regions`, { headers })
    expect(await regions.json()).toEqual({ regions: [] })
    await until(
      'a child process has made the first backup',
      () => existsSync(backupDir) && readdirSync(backupDir).length > 0,
    )
    const [, link] = /\/sign-in#(rki_\w{40})\n/.exec(await paste('users invite')) ?? []
    const body = JSON.stringify({ link, email: 'ada@people.example' })
    const json = { 'content-type': 'application/json', origin: server.url }
    const signedIn = await fetch(`${server.url}/console/session`, { method: 'POST', headers: json, body })
    expect(await signedIn.json()).toMatchObject({ user: { email: 'ada@people.example', role: 'owner' } })
    expect((await server.stop()).code).toBe(0)
    const verified = await site.launch(['audit', 'verify', ...site.flags], { bin }).exit()
    expect(verified).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('verified') })
  })
})

describe('the container', () => {
  test('copies the tarball that npm run package makes, and its variables are settings', () => {
    const [pattern = ''] = instructions('COPY')
    const [from = '', to] = pattern.split(' ')
    expect(globSync(from.replace('dist/packages/', ''), { cwd: shelf.tarballs })).toHaveLength(1)
    expect(to).toBe('roomkeeper.tgz')
    const known = [...serveOptions.map(({ env }) => env), secretKeyVariable]
    const compose = readFileSync(join(root, 'deploy/compose.yaml'), 'utf8')
    const used = [...(dockerfile + compose).matchAll(/ROOMKEEPER_\w+/g)].map(([name]) => name)
    expect(used.length).toBeGreaterThan(5)
    expect(used.filter((name) => !known.includes(name))).toEqual([])
    expect(compose).toContain('dockerfile: deploy/Dockerfile')
  })

  test.runIf(isFullForm)(
    'its entry point starts the server with its variables, and its health check sees it',
    async () => {
      const site = await siteForTest()
      const port = String(await freePort())
      const inFolder = (text: string) => text.replaceAll('/opt/roomkeeper', folders.server).replaceAll('8080', port)
      const env = Object.fromEntries(
        instructions('ENV').map((line) =>
          inFolder(line)
            .replace('$PATH', process.env.PATH ?? '')
            .split('='),
        ),
      )
      const [entry = ''] = JSON.parse(instructions('ENTRYPOINT')[0] ?? '')
      const bin = join(folders.server, 'node_modules/.bin', entry)
      const args = JSON.parse(instructions('CMD')[0] ?? '')
      const server = await ready(site.launch(args, { bin, env: { ...env, ROOMKEEPER_PORT: port } }))
      expect(readdirSync(join(folders.server, 'data'))).toContain('secret.key')
      const [, check = ''] = /CMD (.*)$/.exec(instructions('HEALTHCHECK')[0] ?? '') ?? []
      const health = () =>
        runFile('sh', ['-c', inFolder(check)]).then(
          () => 'healthy',
          () => 'unhealthy',
        )
      expect(await health()).toBe('healthy')
      await server.stop()
      expect(await health()).toBe('unhealthy')
    },
  )
})

/** Runs the example of a package's README with the Node of the machine. */
async function runExample(folder: string, name: string, env: Record<string, string>, ending = '') {
  const { program, printed } = exampleOf(join(folder, 'node_modules', name))
  const file = join(folder, 'example.mjs')
  writeFileSync(file, program + ending)
  const { stdout, stderr } = await runFile(machineNode(), [file], { env: { ROOMKEEPER: service.url, ...env } })
  expect(stderr).toBe('')
  expect(stdout).toBe(printed)
}

describe('roomkeeper-gateway', () => {
  const home = () => join(folders.gateway, 'node_modules/roomkeeper-gateway')

  test('has the two commands for the site of the rooms, their units and documents, and neither a server nor a console', async () => {
    const files = readdirSync(home(), { recursive: true, encoding: 'utf8' })
    expect(files).toEqual(
      expect.arrayContaining([
        ...['LICENSE', 'README.md', 'deploy/roomkeeper-computer.service', 'deploy/roomkeeper-gateway.service'],
        ...['computer', 'gateway', 'pjlink', 'roomos', 'snmp-and-reach'].map((page) => `docs/${page}.md`),
      ]),
    )
    expect(files.filter((file) => /\.ts$|console|sqlite|postgres/.test(file))).toEqual([])
    const { stdout } = await runFile(process.execPath, [join(home(), 'bin/roomkeeper.js'), '--help'])
    const commands = [...stdout.matchAll(/^ {2}([a-z]\S*) \[options\]/gm)].map(([, name]) => name)
    expect(commands).toEqual(['gateway', 'computer'])
  })

  test('has every package that its code imports as a dependency, in the version that was tested', () => {
    const { dependencies } = manifestOf(folders.gateway, 'roomkeeper-gateway')
    for (const [name, version] of Object.entries(dependencies)) expect(manifestOf(root, name).version).toBe(version)
    const code = globSync('dist/program/*.js', { cwd: home() }).map((file) => readFileSync(join(home(), file), 'utf8'))
    const imported = code.flatMap((text) => [...text.matchAll(/^(?:import|export)\b.*\bfrom "([^".][^"]*)"/gm)])
    const names = new Set(imported.map(([, name = '']) => name).filter((name) => !name.startsWith('node:')))
    expect(names).toContain('mqtt')
    expect([...names].filter((name) => !(name in dependencies))).toEqual([])
    expect(Object.keys(dependencies)).not.toEqual(expect.arrayContaining(['better-sqlite3']))
  })

  test('runs from node_modules: this machine becomes a device of a room', async () => {
    const site = await siteForTest()
    const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Dal' } })
    const options = ['--url', service.url, '--code', room.dec, '--data-dir', join(site.dataDir, 'computer')]
    const program = site.launch(['computer', ...options], { bin: join(home(), 'bin/roomkeeper.js') })
    await program.printed(/^Connected\.$/m)
    // Memory comes from the process of systeminformation, which is a file of its own in the package.
    await until('the status of the computer', async () => {
      const [endpoint] = (await org.call('GET', `/rooms/${room.id}`)).body.endpoints
      const { readings } = (await org.call('GET', `/endpoints/${endpoint.id}`)).body
      return readings?.some(({ name }: { name: string }) => name === 'memoryUsed')
    })
    expect((await program.stop()).code).toBe(0)
  })

  test('runs from node_modules: a gateway connects a codec and an agent of SNMP', async () => {
    const site = await siteForTest()
    const own = await service.newOrg()
    const { body: room } = await own.call('POST', '/rooms', { body: { name: 'Elv' } })
    const codec = await FakeCodec.start()
    onTestFinished(() => codec.stop())
    const agent = await startSnmpd('rocommunity public 127.0.0.1\nsysServices 72\n')
    onTestFinished(() => agent.stop())
    const options = ['--url', service.url, '--code', room.dec, '--data-dir', join(site.dataDir, 'gateway')]
    const args = ['gateway', ...options, '--reach', '127.0.0.1']
    const program = site.launch(args, { bin: join(home(), 'bin/roomkeeper.js') })
    const { id } = await until('the gateway is online', async () => {
      const [found] = (await own.call('GET', '/gateways')).body.gateways
      return found?.state === 'ONLINE' && found
    })
    const { port, fingerprint } = codec
    const items = [
      { driver: 'roomos', port, fingerprint, username: 'admin', secret: 'codec-password' },
      { driver: 'snmp', port: agent.port, secret: 'public' },
    ]
    const at = `/gateways/${id}/devices`
    for (const item of items) await own.call('POST', at, { body: { host: '127.0.0.1', roomId: room.id, ...item } })
    await until('both are connected', async () =>
      (await own.call('GET', at)).body.devices.every(({ state }: { state: string }) => state === 'CONNECTED'),
    )
    expect((await program.stop()).code).toBe(0)
  })
})

describe('roomkeeper-cli', () => {
  const run = (args: readonly string[], input = '') => {
    const bin = join(folders.cli, 'node_modules/roomkeeper-cli/bin/roomkeeper-cli.js')
    const env = { PATH: process.env.PATH ?? '', XDG_CONFIG_HOME: join(folders.cli, 'config') }
    const ended = runFile(machineNode(), [bin, ...args], { env })
    ended.child.stdin?.end(input)
    return ended
  }

  test('has no dependencies, takes less than 5 MB, and knows its version and its documents', async () => {
    const manifest = manifestOf(folders.cli, 'roomkeeper-cli')
    const pages = readdirSync(join(folders.cli, 'node_modules/roomkeeper-cli/docs'))
    expect(pages.sort()).toEqual(['command-line.md', 'csv.md', 'files.md'])
    expect(manifest).toMatchObject({ engines: { node: '>=20' }, bin: { 'roomkeeper-cli': 'bin/roomkeeper-cli.js' } })
    expect(manifest.dependencies).toBeUndefined()
    const { stdout: size } = await runFile('du', ['-sk', join(folders.cli, 'node_modules/roomkeeper-cli')])
    expect(Number.parseInt(size, 10), 'KiB of the installation').toBeLessThan(5 * 1024)
    expect((await run(['--version'])).stdout).toBe(`${manifest.version}+${manifest.commit}\n`)
  })

  test('reads the key from standard input, and calls operations with the Node of the machine', async () => {
    const added = await run(['context', 'add', 'test', '--url', service.url, '--org', org.id], `${org.key}\n`)
    expect(added.stdout).toContain('Added test: the key Test key may read, write, manage in all regions')
    expect((await run(['api', 'regions', 'create', '--name', 'Nordics'])).stdout).toMatch(/^name +Nordics$/m)
    const { stdout } = await run(['api', 'regions', 'list', '--json'])
    expect(JSON.parse(stdout).regions.map(({ name }: { name: string }) => name)).toContain('Nordics')
    const refused = await run(['api', 'regions', 'get', '4711']).catch((error) => error)
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Requested resource not found: /),
    })
  })

  test('plans, applies, imports and exports files with the Node of the machine', async () => {
    const other = await service.newOrg()
    const fileWith = (name: string, text: string) => {
      writeFileSync(join(folders.cli, name), text)
      return join(folders.cli, name)
    }
    await run(['context', 'add', 'files', '--url', service.url, '--org', other.id], `${other.key}\n`)
    const document = fileWith(
      'rooms.yaml',
      `organisation: ${other.id}\nregions: [{ name: Europe, locations: [{ name: Oslo, rooms: [{ name: Fjord }] }] }]\n`,
    )
    expect(await run(['plan', document]).catch((error) => error)).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('Plan: 3 to create, 0 to change, 0 to delete.\n'),
    })
    expect((await run(['apply', document, '--yes'])).stdout).toContain('3 of 3 steps done.\n')
    const rows = fileWith('rooms.csv', 'region,location,room,capacity\nEurope,Oslo,Fjord,8\nEurope,Oslo,Bay,4\n')
    expect((await run(['rooms', 'import', rows, '--yes'])).stdout).toContain('1 changed, 1 created.\n')
    expect((await run(['rooms', 'export'])).stdout).toContain('\nEurope,Oslo,Bay,4,')
  })

  test.runIf(isFullForm)('uses nothing that Node 20 does not have', async () => {
    const library = ['es2023', 'es2024.string', 'esnext.disposable']
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { lib: library, typeRoots: [join(root, 'node_modules/@types')] },
      include: [],
      files: ['src/cli/remote/main.ts', 'src/client/client.ts', 'src/device/agent.ts'].map((file) => join(root, file)),
    }
    const file = join(folders.cli, 'tsconfig.json')
    writeFileSync(file, JSON.stringify(config))
    const { stdout } = await runFile(join(root, 'node_modules/.bin/tsc'), ['-p', file]).catch((error) => error)
    expect(stdout).toBe('')
  })
})

describe('roomkeeper-client', () => {
  test('has no dependencies, and its example prints what its README says with the Node of the machine', async () => {
    expect(readdirSync(join(folders.client, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'roomkeeper-client',
    ])
    expect(manifestOf(folders.client, 'roomkeeper-client')).toMatchObject({ engines: { node: '>=20' } })
    await runExample(folders.client, 'roomkeeper-client', { ORG: org.id, KEY: org.key })
  })

  test.runIf(isFullForm)('works in a browser, bundled into the page of another origin', async () => {
    const options = JSON.stringify({ baseUrl: service.url, org: org.id, token: org.key })
    writeFileSync(
      join(folders.client, 'page.js'),
      `import { makeClient } from 'roomkeeper-client'
      const client = makeClient(${options})
      const show = (text) => document.body.append(text + '; ')
      const events = client.eventsStream({ types: 'structure' }, { onOpen: () => void client.regionsCreate({ body: { name: 'Nordics' } }) })
      for await (const { event } of events) {
        show(event.change.type)
        break
      }
      show((await client.regionsList()).body.regions.map((region) => region.name).join())
      show(await client.roomsGet({ id: 4711 }).catch((error) => error.status + ' ' + error.body.code))
      document.title = 'done'`,
    )
    await vite.build({
      configFile: false,
      root: folders.client,
      logLevel: 'error',
      build: { rolldownOptions: { input: 'page.js', output: { entryFileNames: 'main.js' } } },
    })
    bundled = readFileSync(join(folders.client, 'dist/main.js'), 'utf8')
    const browser = await openBrowser()
    onTestFinished(() => closeTabs(browser))
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    await page.goto(origin)
    await until('the program of the page ends', async () => errors.length > 0 || (await page.title()) === 'done')
    expect(errors).toEqual([])
    expect(await page.textContent('body')).toContain('REGION_CREATED; Nordics; 404 NOT_FOUND; ')
  })
})

describe('roomkeeper-device', () => {
  test('depends on mqtt alone, and its example connects a device with the Node of the machine', async () => {
    expect(Object.keys(manifestOf(folders.device, 'roomkeeper-device').dependencies)).toEqual(['mqtt'])
    const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
    const running = runExample(
      folders.device,
      'roomkeeper-device',
      { CODE: room.dec },
      `
      const { setTimeout: pause } = await import('node:timers/promises')
      while (settings.brightness !== 0.5) await pause(20)
      await agent.stop()`,
    )
    const endpoint = await until('the device is connected', async () => {
      const { endpoints } = (await org.call('GET', '/endpoints')).body
      return endpoints.find((one: { connected: boolean }) => one.connected)
    })
    expect(endpoint).toMatchObject({ serial: 'NB1-0042', model: 'NF19B1', roomId: room.id })
    const applied = await org.call('POST', `/endpoints/${endpoint.id}/config`, { body: { brightness: 0.5 } })
    expect(applied.status).toBe(200)
    await running
    const { body: sensor } = await org.call('GET', `/endpoints/${endpoint.id}/sensor`)
    expect(JSON.stringify(sensor)).toContain('"temp":21.5')
    const { body: state } = await org.call('GET', `/endpoints/${endpoint.id}/config/state`)
    expect(JSON.stringify(state)).toContain('"brightness":0.5')
  })

  test('calls every handler: config, message, logs, in use, reboot', async () => {
    const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Skog' } })
    const file = join(folders.device, 'every-handler.mjs')
    writeFileSync(file, everyHandlerProgram)
    const ended = runFile(machineNode(), [file], { env: { ROOMKEEPER: service.url, CODE: room.dec } })
    let output = ''
    ended.child.stdout?.on('data', (text) => {
      output += text
    })
    const { id } = await until('the status of the device is stored', async () => {
      const [endpoint] = (await org.call('GET', `/rooms/${room.id}`)).body.endpoints
      return endpoint?.firmwareVersion === '1.0.0' && endpoint
    })
    const done = (operationId: string) =>
      until(`operation ${operationId} has ended`, async () => {
        const { body } = await org.call('GET', `/operations/${operationId}`)
        expect(['FAILED', 'EXPIRED'], JSON.stringify(body)).not.toContain(body.state)
        return body.state === 'SUCCEEDED'
      })

    await org.call('POST', `/endpoints/${id}/config`, { body: { brightness: 0.5, nightMode: true } })
    const config = await until('the config is reported', async () => {
      const { body } = await org.call('GET', `/endpoints/${id}/config/state`)
      return body.state === 'FAILED' && body
    })
    expect(JSON.stringify(config)).toContain('It has no screen.')
    const message = { message: 'Hello.', endpointIds: [id] }
    await done((await org.call('POST', '/endpoints/send_message', { body: message })).body.operations[0].id)
    const report = await org.call('POST', '/endpoints/generate_bug_report?uploadInCallLogs=true', { body: [id] })
    await until('the logs are there', async () => {
      const { body } = await org.call('GET', `/bug_reports/${report.body.supportId}`)
      return body.endpoints[0].state === 'UPLOADED'
    })
    const reboot = await org.call('POST', `/endpoints/${id}/reboot`, { body: { when: 'idle' } })
    const [{ id: rebootId }] = reboot.body.operations
    await until('the device has refused', async () => {
      const { body } = await org.call('GET', `/operations/${rebootId}`)
      return output.includes('in use\n') && body.waitsFor === 'idle'
    })
    service.clock.advance(11_000)
    await done(rebootId)
    await org.call('DELETE', `/endpoints/${id}`)
    const { stdout, stderr } = await ended
    expect(stderr).toBe('')
    expect(stdout.trim().split('\n')).toEqual([
      'config 1',
      'message Hello. 60000',
      'logs true',
      'in use',
      'not in use',
      'reboot',
      'unenrolled',
    ])
  })
})

describe('a warning of the bundler', () => {
  test('fails the packaging', async () => {
    const [client] = libraries
    if (!client) throw new Error('There is no library.')
    const broken = { ...client, exports: { 'client/client': { values: ['makeClient', 'noSuchName'], types: [] } } }
    await expect(buildLibrary(broken, join(shelf.newFolder('broken'), 'package'))).rejects.toThrow(/noSuchName/)
    const module = join(shelf.newFolder('warning'), 'index.js')
    writeFileSync(module, `import * as own from './own.js'\nexport const value = own.missing\n`)
    writeFileSync(join(module, '../own.js'), 'export const present = 1\n')
    const lib = { entry: module, formats: ['es' as const] }
    const config = { configFile: false as const, logLevel: 'silent' as const, build: { lib, write: false } }
    await expect(strictBuild(vite, config)).rejects.toThrow(/warnings[\s\S]*missing/)
  })

  test('fails every bundle: no tool builds in another way', () => {
    const tools = globSync('tools/**/*.{js,ts}', { cwd: root }).filter((name) => name !== 'tools/strict-build.js')
    const builders = tools.filter((name) => /strictBuild\(/.test(readFileSync(join(root, name), 'utf8')))
    expect(builders.toSorted()).toEqual([
      'tools/build-console.js',
      'tools/packages/cli.ts',
      'tools/packages/compile-program.ts',
      'tools/packages/library.ts',
    ])
    const others = tools.filter((name) =>
      /vite\.build\(|\{ build\b.*from 'vite'/.test(readFileSync(join(root, name), 'utf8')),
    )
    expect(others).toEqual([])
  })
})

describe('types', () => {
  const strict = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: false,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable', 'esnext.disposable'],
    types: [] as string[],
  }
  const check = async (folder: string, files: Record<string, string>, compilerOptions: object) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const config = { compilerOptions: { ...strict, ...compilerOptions }, files: Object.keys(files) }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const { stdout } = await runFile(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch((error) => error)
    expect(stdout).toBe('')
  }

  test('of the client fit a strict project, and refuse what the API would refuse', async () => {
    await check(folders.client, { 'strict.mts': clientProgram }, {})
  })

  test.runIf(isFullForm)(
    'of the client are those of the source: what the source takes, the package takes; both return the same',
    async () => {
      const source = {
        allowImportingTsExtensions: true,
        skipLibCheck: true,
        lib: ['esnext', 'dom', 'dom.iterable'],
        target: 'esnext',
      }
      await check(folders.client, { 'same.mts': comparisonWith(join(root, 'src/client/client.ts')) }, source)
    },
  )

  test('of the device agent fit a strict project, and refuse what the protocol would refuse', async () => {
    const { program } = exampleOf(join(folders.device, 'node_modules/roomkeeper-device'))
    const typed = program
      .replaceAll(/process\.env\.(\w+)/g, "(process.env.$1 ?? '')")
      .replace('let state //', 'let state: AgentState | undefined //')
      .replace('let settings = {}', 'let settings: AgentSettings = {}')
    const node = {
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      lib: ['es2022', 'esnext.disposable'],
    }
    await check(folders.device, { 'strict.mts': typed + deviceProgram }, node)
  })
})

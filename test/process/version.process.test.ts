// Version and commit: everything that names the version of the program names the commit too, if it is known.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root, runFile } from '../support/packages.ts'
import { emptySiteForTest, siteForTest, testProgramFolder } from '../support/program.ts'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const gitOutput = async (...args: string[]) => (await runFile('git', args, { cwd: root })).stdout.trim()
const printedVersion = async (bin: string) => (await runFile(process.execPath, [bin, '--version'])).stdout.trim()

test('a checkout names the commit that git has, a package the commit that is in its package.json', async () => {
  const head = await gitOutput('rev-parse', '--short=12', 'HEAD')
  expect(await printedVersion(join(root, 'bin/roomkeeper.js'))).toBe(`${version}+${head}`)
  const printed = await printedVersion(join(testProgramFolder, 'bin/roomkeeper.js'))
  expect([`${version}+${head}`, `${version}+${head}-modified`]).toContain(printed)
})

test('without git the version stands alone, even inside of another checkout', async () => {
  const folder = `${testProgramFolder}-without-commit-${process.pid}`
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(testProgramFolder, folder, { recursive: true, verbatimSymlinks: true })
  const { commit, ...manifest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect(commit).toMatch(/^[0-9a-f]{12}/)
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  expect(await printedVersion(join(folder, 'bin/roomkeeper.js'))).toBe(version)
})

test('the log, /metrics, the console, "nodes", "doctor" and backups say the version and the commit', async () => {
  const site = await siteForTest()
  const server = await site.serve()
  const { commit } = JSON.parse(readFileSync(join(testProgramFolder, 'package.json'), 'utf8'))
  const both = { version, commit }
  expect(JSON.parse(server.stderr.split('\n')[0] ?? '')).toMatchObject({ msg: 'ready', ...both })
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(metrics).toContain(`roomkeeper_build_info{version="${version}",commit="${commit}",`)
  const { nodes } = await site.json('nodes')
  expect(nodes).toEqual([expect.objectContaining(both)])
  expect((await site.run('nodes')).stdout).toContain(`  ${version}+${commit}  up since `)
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const { key } = await site.json('keys', 'create', '--org', server.org, '--name', 'Console', '--scope', 'read')
  const session = await fetch(`${server.url}/console/session`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ key }),
  })
  expect(await session.json()).toMatchObject(both)

  // These run in the process of the test, which is a checkout.
  const here = { version, commit: await gitOutput('rev-parse', '--short=12', 'HEAD') }
  const doctor = await site.run('doctor', '--port', '0', '--mqtt-port', '0')
  expect(doctor.stdout).toMatch(new RegExp(`^Roomkeeper ${version}\\+${here.commit} on Node `))
  const file = join(site.dataDir, 'backup.tar')
  expect(await site.json('backup', file, '--with-secret')).toMatchObject(here)
  const { stdout } = await runFile('tar', ['-xOf', file, 'manifest.json'])
  expect(JSON.parse(stdout)).toMatchObject(here)
  const other = await emptySiteForTest()
  const restored = await other.run('restore', file)
  expect(restored.stdout).toContain(`backed up by version ${version}+${here.commit}.`)
})

// `--config FILE`: its place between options, environment and defaults, and what is refused.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { expectRefusal, ready, type Site, siteForTest } from '../support/program.ts'

const write = (site: Site, lines: readonly string[]) => {
  const file = join(site.dataDir, '../roomkeeper.conf')
  writeFileSync(file, lines.join('\n'))
  return file
}

test('an option wins over a variable, a variable over the file, and the file over the default', async () => {
  const site = await siteForTest()
  const [port, publicPort] = [await freePort(), await freePort()]
  const file = write(site, [
    '# Settings of this server',
    'ROOMKEEPER_PORT=1',
    'ROOMKEEPER_LOG_LEVEL=debug',
    `ROOMKEEPER_DATA_DIR=${site.dataDir}`,
    `ROOMKEEPER_PUBLIC_URL=http://127.0.0.1:${publicPort}`,
    'ROOMKEEPER_MQTT_PORT=1',
  ])
  const env = { ROOMKEEPER_LOG_LEVEL: 'warn', ROOMKEEPER_CORS_ORIGIN: '' }
  const server = await ready(site.launch(['serve', '--config', file, '--port', String(port)], { env }))
  expect(server.url, 'the file').toBe(`http://127.0.0.1:${publicPort}`)
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status, 'the option').toBe(200)
  expect(server.stderr, 'the variable').toBe('')
  const org = await site.launch(['org', 'list', '--json'], { env: { ROOMKEEPER_CONFIG: file } }).exit()
  expect(JSON.parse(org.stdout).orgs, 'the variable that names the file').toHaveLength(1)
})

test('an unknown name is refused with the nearest known one, a wrong value with its option, a missing file by name', async () => {
  const site = await siteForTest()
  const start = (file: string) => site.launch(['serve', '--config', file, ...site.flags]).exit()
  expectRefusal(
    await start(write(site, ['ROOMKEEPER_HOTS=0.0.0.0'])),
    /roomkeeper\.conf, line 1: ROOMKEEPER_HOTS is not a setting\. The nearest setting is ROOMKEEPER_HOST\.$/m,
  )
  expectRefusal(await start(write(site, ['ROOMKEEPER_PORT=http'])), /--port \(or ROOMKEEPER_PORT\) .*not "http"/)
  expectRefusal(await start('none.conf'), /^Cannot read the config file none\.conf \(ENOENT\)\. Check --config/)
})

// docs/device-protocol.md is real: its chapter by hand runs as it is written, and its tables of errors are what happens.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { devicePaths, maxBundleBytes } from '../../src/contract/device/protocol.ts'
import { need } from '../support/debian.ts'
import { newDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { rawRequest } from '../support/raw-http.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/device-protocol.md'), 'utf8')
const firstSteps = readFileSync(join(root, 'docs/first-steps.md'), 'utf8')

let harness: Harness
beforeAll(async () => {
  need('curl', 'mosquitto_pub')
  harness = await startHarness()
})
afterAll(() => harness.close())

interface Step {
  readonly script: string
  readonly language: string
  readonly shown: string
}

/** The commands of the chapter by hand, each with what the page shows under it; nothing shown means nothing printed. */
function stepsByHand(): Step[] {
  const chapter = page.slice(page.indexOf('## By hand with curl and mosquitto'))
  const blocks = [...chapter.matchAll(/^```(\w+)[^\n]*\n([\s\S]*?)^```$/gm)]
  return blocks.flatMap(([, language, script = ''], i) => {
    if (language !== 'sh') return []
    const [, next = 'sh', shown = ''] = blocks[i + 1] ?? []
    return [next === 'sh' ? { script, language: 'text', shown: '' } : { script, language: next, shown }]
  })
}

/** Replaces values that differ from run to run. Whether the service has already seen a disconnect depends on timing. */
const steady = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(UUID)')
    .replaceAll(/\b[A-Z2-9]{4}(-[A-Z2-9]{4}){1,2}\b/g, '(code)')
    .replaceAll(/rkd_\w{40}/g, '(credential)')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '(time)')
    .replaceAll(/"timestamp": ?"\d+"/g, '"timestamp":"(seconds)"')
    .replaceAll(/(?:127\.0\.0\.1|localhost):\d+/g, '(host)')
    .replaceAll(/"connected": ?(true|false)/g, '"connected":false')
    .replaceAll(/"state": ?"O(N|FF)LINE"/g, '"state":"OFFLINE"')

test('the chapter by hand runs as it is written', async () => {
  const org = await harness.newOrg()
  const steps = stepsByHand()
  expect(steps.length).toBeGreaterThan(10)
  const [api] = /^api\(\) .*$/m.exec(firstSteps) ?? []
  expect(api).toBeDefined()
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-by-hand-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const end = '\u001e'
  const script = [api, ...steps.map((step) => `${step.script}printf '${end}'`)].join('\n')
  const env = { PATH: process.env.PATH, ROOMKEEPER: harness.url, ORG: org.id, KEY: org.key }
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', script], {
    env,
    cwd: folder,
    timeout: 60_000,
  })
  expect(stderr).toBe('')
  const printed = stdout.split(end)
  for (const [i, { script, language, shown }] of steps.entries()) {
    const text = printed[i] ?? ''
    if (language === 'json') expect(JSON.parse(steady(text)), script).toEqual(JSON.parse(steady(shown)))
    else expect(steady(text), script).toBe(steady(shown))
  }
  expect((await org.call('GET', '/endpoints')).body.endpoints).toEqual([])
  expect((await org.audit()).map((entry) => entry.type)).toEqual([
    'DEVICE_REMOVED',
    'DEVICE_LOGS_REQUESTED',
    'DEVICE_REBOOT_REQUESTED',
    'DEVICE_MESSAGE_SENT',
    'DEVICE_CONFIG_CHANGED',
    'DEVICE_ENROLLED',
    'ROOM_CREATED',
    'API_KEY_CREATED',
    'ORG_CREATED',
  ])
})

/** Status and code of each row of a table of errors, without those that are our fault and cannot be asked for. */
const errorsIn = (title: string): string[] =>
  page
    .slice(page.indexOf(`| ${title}: status |`))
    .split('\n\n')[0]
    ?.split('\n')
    .slice(2)
    .map((row) => row.split(' | ').slice(0, 2).join(' ').slice(2))
    .filter((error) => !error.startsWith('5')) ?? []

const said = (answer: string): string => {
  const { status, code } = JSON.parse(answer.slice(answer.indexOf('{')))
  return `${status} ${code}`
}

test('the errors of enrolment are those in the table', async () => {
  const org = await harness.newOrg()
  const room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body
  const other = await harness.newOrg()
  const theirs = (await other.call('POST', '/rooms', { body: { name: 'Skog' } })).body
  const device = await newDevice(harness, org, { roomId: room.id, serial: 'S1' })
  const enrol = async (body: object, path: string = devicePaths.enrol, headers = {}) => {
    const sent = { code: room.dec, serial: 'S2', model: 'NF19B1', ...body }
    return said((await harness.call('POST', path, { body: sent, headers })).text)
  }
  const wrong = () => enrol({ code: 'AAAA-BBBB-CCCC' })
  const found = [
    await enrol({ model: 5 }),
    await enrol({ code: theirs.dec, serial: 'S1' }),
    await wrong(),
    await enrol({}, '/device/v1/enroll'),
    await enrol({ serial: 'S1' }),
    await enrol({ more: 'x'.repeat(4 * 1024) }),
    await enrol({}, devicePaths.enrol, { 'content-type': 'text/plain' }),
  ]
  await Promise.all(Array.from({ length: 9 }, wrong))
  expect([...found, await wrong()]).toEqual(errorsIn('Enrolment'))
  await device.close()
})

test('the errors of an upload are those in the table', async () => {
  const org = await harness.newOrg()
  const { id: roomId } = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body
  // After the test above, this address waits, also with right codes.
  harness.clock.advance(60_000)
  const device = await newDevice(harness, org, { roomId })
  await org.call('POST', '/endpoints/generate_bug_report', { body: [device.id] })
  const { pathname } = new URL((await device.next('operation')).logs.uploadUrl)
  const proof = (password: string) => ({
    authorization: `Basic ${Buffer.from(`${device.id}:${password}`).toString('base64')}`,
  })
  const put = async (path: string, body: Buffer, headers: Record<string, string> = proof(device.credential)) => {
    const reply = await harness.call('PUT', path, {
      raw: body,
      headers: { 'content-type': 'application/gzip', ...headers },
    })
    return reply.status === 200 ? 'done' : said(reply.text)
  }
  const bundle = gzipSync('all is well')
  const other = pathname.replace(/logs\/[^/]+/, 'logs/0b0f3c52-6d3c-4c3e-8c55-0d5b5f0e8f10')
  const head = [
    `PUT ${pathname} HTTP/1.1`,
    'Host: x',
    `Authorization: ${proof(device.credential).authorization}`,
    `Content-Length: ${maxBundleBytes + 1}`,
    'Connection: close',
  ]
  const unzipped = await put(pathname, Buffer.from('all is well'))
  const stranger = await put(pathname, bundle, proof('rkd_'))
  const wrongAddress = await put(`${pathname}x`, bundle)
  const notAsked = await put(other, bundle)
  const tooLarge = said(await rawRequest(Number(new URL(harness.url).port), `${head.join('\r\n')}\r\n\r\n`))
  expect(await put(pathname, bundle)).toBe('done')
  const twice = await put(pathname, bundle)
  let tooMany = ''
  for (let i = 0; i < 10 && !tooMany.startsWith('429'); i++) tooMany = await put(other, bundle)
  expect([unzipped, twice, stranger, wrongAddress, notAsked, tooLarge, tooMany]).toEqual(errorsIn('Upload'))
  await device.close()
})

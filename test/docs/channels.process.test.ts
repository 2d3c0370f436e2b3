// The receiver in docs/channels.md takes real messages, refuses forged ones, and ignores what it has seen.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listDeliveryRows, newChannel, newMessages, testSigningSecret } from '../support/channels/channel-rows.ts'
import { freePort } from '../support/free-port.ts'
import { startHarness } from '../support/harness.ts'
import { until } from '../support/program.ts'

const page = readFileSync(new URL('../../docs/channels.md', import.meta.url), 'utf8')

test('the documented receiver prints each message once', async () => {
  const [, code = ''] = /```js\n([\s\S]+?)```/.exec(page) ?? []
  expect(code).toContain('// receiver.mjs')
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-receiver-'))
  const port = await freePort()
  writeFileSync(join(folder, 'receiver.mjs'), code)
  const env = { ...process.env, WEBHOOK_SECRET: testSigningSecret, PORT: String(port) }
  const receiver = spawn(process.execPath, [join(folder, 'receiver.mjs')], { env })
  let printed = ''
  receiver.stdout.on('data', (part) => {
    printed += part
  })
  onTestFinished(() => {
    receiver.kill()
    rmSync(folder, { recursive: true })
  })
  const url = `http://127.0.0.1:${port}/`
  const post = (headers = {}) =>
    fetch(url, { method: 'POST', body: '{}', headers }).then(
      ({ status }) => status,
      () => undefined,
    )
  expect(await until('the receiver answers', () => post())).toBe(401)
  const now = String(Math.floor(Date.now() / 1000))
  const forged = { 'webhook-id': 'msg_1', 'webhook-timestamp': now, 'webhook-signature': 'v1,Zm9yZ2Vk' }
  expect(await post(forged)).toBe(401)

  const harness = await startHarness()
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const channel = await newChannel(harness, org, { secrets: { url } })
  const incident = { id: '12', title: 'Board room is offline' }
  await newMessages(harness, org, channel, [
    { type: 'incident.reopened', subject: 'incident 12', data: { incident } },
    { type: 'incident.resolved', subject: 'incident 12', data: { incident } },
  ])
  const isDelivered = async () => (await listDeliveryRows(harness, channel)).every(({ state }) => state === 'DELIVERED')
  await until('both are delivered', isDelivered)
  // A replay, or an answer that got lost: the message comes again.
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('deliveries')
      .set({ state: 'WAITING', next_at: 0 })
      .where('channel_id', '=', channel)
      .where('sequence', '=', 1)
      .execute(),
  )
  await until('it is delivered again', isDelivered)
  const page12 = `${harness.publicUrl}/incidents/12`
  expect(printed).toBe(
    `1 incident.reopened Board room is offline ${page12}\n2 incident.resolved Board room is offline ${page12}\n`,
  )
})

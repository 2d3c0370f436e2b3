// Mails go out once although a server is slow, stop when they are told to, and need TLS where a password could be read.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { MailServer } from '../../../test/support/channels/mail-server.ts'
import { shortenLimits } from '../../../test/support/short-limits.ts'
import { openMailer, requiresTls } from './mailer.ts'

const mail = { to: ['ops@example.org'], subject: 'Subject', text: 'Text' }
const smtpFrom = 'Roomkeeper <rooms@example.org>'

async function startServer(): Promise<MailServer> {
  const server = await MailServer.start()
  onTestFinished(() => server.close())
  return server
}

test('a server that takes longer to accept a mail than to greet gets it once', async () => {
  const server = await startServer()
  const { limits } = shortenLimits(0.1)
  server.delayMs = limits.mailStepMs + 200
  const outcome = await openMailer({ smtpUrl: server.url, smtpFrom }, limits).send(mail)
  expect(outcome).toEqual({ isDelivered: true, status: null })
  expect(server.mails).toHaveLength(1)
})

test('a signal and the end of the mailer close the connection to a server that says a word now and then', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    const words = setInterval(() => socket.write('220-wait\r\n'), 100)
    socket.on('close', () => clearInterval(words))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const smtpUrl = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`
  const mailer = openMailer({ smtpUrl, smtpFrom })
  const timeout = { isDelivered: false, isRefusedForGood: false, status: null, error: 'timeout' }
  expect(await mailer.send(mail, AbortSignal.timeout(500))).toEqual(timeout)
  const sending = mailer.send(mail)
  await expect.poll(() => sockets.length).toBe(2)
  mailer.close()
  expect(await sending).toEqual(timeout)
  await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true)
  expect(await mailer.send(mail)).toEqual(timeout)
  expect(sockets).toHaveLength(2)
})

test('a password is sent to another machine over TLS only, unless the URL says otherwise', async () => {
  expect(requiresTls('smtp://user:password@mail.example.org')).toBe(true)
  expect(requiresTls('smtp://user:password@10.0.0.1:587')).toBe(true)
  expect(requiresTls('smtp://user:password@mail.example.org?requireTLS=false')).toBe(false)
  expect(requiresTls('smtp://mail.example.org')).toBe(false)
  for (const host of ['localhost', '127.0.0.1:25', '[::1]'])
    expect(requiresTls(`smtp://user:password@${host}`)).toBe(false)
  const server = await startServer()
  const smtpUrl = `${server.url}?requireTLS=true`
  expect(await openMailer({ smtpUrl, smtpFrom }).send(mail)).toMatchObject({
    isDelivered: false,
    error: expect.stringMatching(/^tls/),
  })
  expect(server.mails).toEqual([])
})

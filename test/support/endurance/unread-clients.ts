// Many clients that send requests ahead and read nothing: the memory of the server stays small, and is given back when they leave.
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Site, until } from '../program.ts'
import { report } from './counts.ts'
import { inMebibytes, mebibyte, openFiles, residentBytes } from './server-memory.ts'

const requestsAheadCount = 100
const maxResidentBytes = 400 * mebibyte
const maxMemoryFactor = 1.5
const recoveryMs = 30_000
/** Connections that are opened before the next pause; a full queue of new connections would lose some. */
const batchSize = 50
/** Descriptors that a server opens and closes by itself. */
const spareFiles = 5

export async function unreadClients(
  site: Site,
  { clients, seconds, seed }: { readonly clients: number; readonly seconds: number; readonly seed: number },
): Promise<{ accepted: number }> {
  const { url } = await site.serve('--rate-limit', '0', '--log-level', 'error')
  const port = Number(new URL(url).port)
  // The answer of 340 KiB is longer than the operating system takes for a connection when it is sent a few times.
  const requestFor = (i: number) =>
    `GET /openapi.json HTTP/1.1\r\nHost: x\r\n${i % 2 === 0 ? '' : 'Accept-Encoding: gzip\r\n'}\r\n`.repeat(
      requestsAheadCount,
    )
  for (let i = 0; i < 20; i++) expect((await fetch(`${url}/openapi.json`)).status).toBe(200)
  const before = await residentBytes(url)
  const filesBefore = await openFiles(url)
  let peak = before
  const sockets: Socket[] = []
  let accepted = 0
  try {
    while (sockets.length < clients) {
      const socket = connect(port, '127.0.0.1', () => {
        accepted++
        socket.write(requestFor(sockets.length))
      })
      socket.on('error', () => {})
      socket.pause()
      sockets.push(socket)
      if (sockets.length % batchSize === 0) peak = Math.max(peak, await residentBytes(url))
    }
    const end = performance.now() + seconds * 1000
    while (performance.now() < end) {
      await pause(200)
      peak = Math.max(peak, await residentBytes(url))
    }
  } finally {
    for (const socket of sockets) socket.destroy()
  }
  let after = peak
  await until(
    'memory and descriptors to be given back',
    async () => {
      after = await residentBytes(url)
      return after <= before * maxMemoryFactor && (await openFiles(url)) <= filesBefore + spareFiles
    },
    { everyMs: 500, timeoutMs: recoveryMs },
  )
  report('clients that do not read', seed, {
    clients,
    accepted,
    'memory before': inMebibytes(before),
    'at its highest': inMebibytes(peak),
    after: inMebibytes(after),
  })
  expect(peak, 'bytes of memory at the peak').toBeLessThanOrEqual(maxResidentBytes)
  return { accepted }
}

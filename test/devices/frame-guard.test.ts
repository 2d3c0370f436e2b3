// The frame reader with its guards: frames arrive whole and in order, too long ones are refused, and too many wait.
import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BackPressure } from '../../src/server/devices/mqtt/limits/back-pressure.ts'
import { IngestBudget } from '../../src/server/devices/mqtt/limits/ingest-budget.ts'
import {
  type FixedHeader,
  FrameReader,
  isPublish,
  readFixedHeader,
} from '../../src/server/devices/mqtt/packets/frame-reader.ts'
import { frames } from '../support/devices/raw-mqtt.ts'
import { runCount } from '../support/long-form.ts'

const maxBytes = 128 * 1024
const pubrel = Buffer.from([0x62, 2, 0, 1])
const nextTurn = () => new Promise(setImmediate)

function newSocket() {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  socket.on('error', () => {})
  return socket
}

/** A reader behind the back-pressure of a connected device. */
function newReader(budget: IngestBudget, onFrame: (frame: Buffer, header: FixedHeader) => void) {
  const socket = newSocket()
  const backPressure = new BackPressure(socket, budget, () => reader.proceed())
  const reader: FrameReader = new FrameReader(
    socket,
    {
      admit: (header) => backPressure.admit(header),
      receive: (frame, header) => {
        if (isPublish(header)) backPressure.messageArrived(header.remainingBytes)
        onFrame(frame, header)
      },
      rejectLarge: () => socket.destroy(),
      inputEnded: () => socket.destroy(),
    },
    maxBytes,
  )
  socket.once('close', () => backPressure.close())
  reader.start()
  return { socket, backPressure }
}

/** Frames of all kinds; the published ones have their position as packet id. */
const someFrames = fc
  .array(
    fc.record({
      kind: fc.constantFrom('publish 0', 'publish 1', 'publish 1', 'ping', 'subscribe', 'pubrel'),
      size: fc.oneof({ weight: 9, arbitrary: fc.nat(200) }, { weight: 1, arbitrary: fc.nat(60_000) }),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((wanted) =>
    wanted.map(({ kind, size }, i) => {
      if (kind === 'ping') return frames.pingreq
      if (kind === 'subscribe') return frames.subscribe('t'.repeat((size % 3000) + 1), i + 1)
      if (kind === 'pubrel') return pubrel
      return frames.publish('t', 'x'.repeat(size), kind === 'publish 0' ? 0 : 1, i + 1)
    }),
  )

function pieces(all: Buffer, sizes: readonly number[]): Buffer[] {
  const cut: Buffer[] = []
  for (let at = 0, i = 0; at < all.length; i++) {
    const size = sizes[i % sizes.length] as number
    cut.push(all.subarray(at, at + size))
    at += size
  }
  return cut
}

test('however bytes are cut, frames come whole, in order, and never more than eight messages at once', async () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 70_000 })), {
    minLength: 1,
    maxLength: 20,
  })
  await fc.assert(
    fc.asyncProperty(someFrames, sizes, async (sent, sizes) => {
      const budget = new IngestBudget()
      const received: string[] = []
      let unanswered = 0
      const { socket, backPressure } = newReader(budget, (frame, header) => {
        received.push(frame.toString('hex'))
        if (!isPublish(header)) return
        expect(++unanswered).toBeLessThanOrEqual(8)
        setImmediate(() => {
          unanswered--
          budget.release(header.remainingBytes)
          backPressure.answered(1)
        })
      })
      const ended = new Promise((resolve) => socket.once('close', resolve))
      for (const piece of pieces(Buffer.concat(sent), sizes)) {
        socket.push(piece)
        if (piece.length % 2 === 0) await nextTurn()
      }
      socket.push(null)
      await ended
      expect(received).toEqual(sent.map((frame) => frame.toString('hex')))
      while (unanswered > 0) await nextTurn()
      expect(budget.bytesInFlight).toBe(0)
    }),
    { numRuns: runCount({ short: 80, full: 300, long: 300 }) },
  )
})

test('a fixed header is read as soon as it is there, and not before', () => {
  const header = (...bytes: number[]) => readFixedHeader(Buffer.from([0xff, ...bytes]), 1)
  for (const incomplete of [[], [0x30], [0x30, 0x80], [0x30, 0xff, 0xff, 0xff]]) {
    expect(header(...incomplete)).toBeUndefined()
  }
  expect(header(0xc0, 0)).toEqual({ firstByte: 0xc0, headerBytes: 2, remainingBytes: 0 })
  expect(header(0x30, 127, 9)).toEqual({ firstByte: 0x30, headerBytes: 2, remainingBytes: 127 })
  expect(header(0x30, 0x80, 1)).toEqual({ firstByte: 0x30, headerBytes: 3, remainingBytes: 128 })
  expect(header(0x30, 0xff, 0xff, 0xff, 0x7f)?.remainingBytes).toBe(268_435_455)
  expect(header(0x30, 0xff, 0xff, 0xff, 0xff)?.remainingBytes).toBe(Number.POSITIVE_INFINITY)
})

test.each([
  ['is longer than allowed', Buffer.from([0x30, 0x81, 0x80, 0x08])],
  ['has a length of five bytes', Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff])],
])('a frame that %s ends the connection when its header is there', async (_, header) => {
  const { socket } = newReader(new IngestBudget(), () => expect.unreachable('nothing is handed over'))
  for (const byte of header.subarray(0, -1)) socket.push(Buffer.from([byte]))
  await nextTurn()
  expect(socket.destroyed).toBe(false)
  socket.push(header.subarray(-1))
  await expect.poll(() => socket.destroyed).toBe(true)
})

test('a frame of the largest size is welcome', async () => {
  const received: number[] = []
  const { socket } = newReader(new IngestBudget(), (frame) => received.push(frame.length))
  const frame = frames.publish('t', 'x'.repeat(maxBytes - 5), 1, 1)
  expect(readFixedHeader(frame, 0)?.remainingBytes).toBe(maxBytes)
  for (const piece of pieces(frame, [10_000])) socket.push(piece)
  await expect.poll(() => received).toEqual([frame.length])
})

test('the budget goes to those who queue, in their order; who comes again is behind all others', async () => {
  const budget = new IngestBudget()
  const frameBytes = 4 * 1024 * 1024
  for (let i = 0; i < 4; i++) expect(budget.reserve(frameBytes)).toBe(true)
  expect(budget.reserve(1), 'it is used up').toBe(false)
  const turns: string[] = []
  const newApplicant = (name: string) => {
    const applicant = {
      granted() {
        turns.push(name)
        if (turns.length < 9) budget.reserveOrQueue(frameBytes, applicant)
        budget.release(frameBytes)
      },
    }
    return applicant
  }
  for (const name of ['a', 'b', 'c']) expect(budget.reserveOrQueue(frameBytes, newApplicant(name))).toBe(false)
  const gone = newApplicant('gone')
  budget.reserveOrQueue(frameBytes, gone)
  budget.leaveQueue(gone)
  expect(budget.queueLength).toBe(3)
  budget.release(frameBytes)
  expect(budget.reserve(1), 'a queue is not overtaken').toBe(false)
  await expect.poll(() => turns.length).toBeGreaterThanOrEqual(9)
  expect(turns.slice(0, 9).join('')).toBe('abcabcabc')
})

const smallBytes = 1024
/** Uses up what is left of a budget, and says how many small messages that were. */
function useUp(budget: IngestBudget): number {
  let count = 0
  while (budget.reserve(smallBytes)) count++
  return count
}

test.each(['queued', 'granted', 'half arrived'] as const)(
  'a connection that ends gives its share of the budget back: %s',
  async (moment) => {
    const whole = useUp(new IngestBudget())
    const budget = new IngestBudget()
    const { socket } = newReader(budget, () => expect.unreachable('the message is not complete'))
    let used = moment === 'half arrived' ? 0 : useUp(budget)
    const releaseAll = () => {
      for (; used > 0; used--) budget.release(smallBytes)
      return nextTurn()
    }
    socket.push(frames.publish('t', 'x'.repeat(100_000), 1, 1).subarray(0, 50_000))
    await nextTurn()
    expect(budget.queueLength).toBe(moment === 'half arrived' ? 0 : 1)
    if (moment === 'granted') await releaseAll()
    socket.destroy()
    await new Promise((resolve) => socket.once('close', resolve))
    await releaseAll()
    expect(useUp(budget)).toBe(whole)
  },
)

test('a message that arrives slowly gives its share back, and is counted again when it is there', async () => {
  const budget = new IngestBudget()
  const received: number[] = []
  const { socket, backPressure } = newReader(budget, (frame) => received.push(frame.length))
  const message = frames.publish('t', 'x'.repeat(100_000), 1, 1)
  socket.push(message.subarray(0, 50_000))
  await nextTurn()
  const reserved = budget.bytesInFlight
  expect(reserved).toBeGreaterThan(100_000)
  backPressure.tick()
  expect(budget.bytesInFlight).toBe(reserved)
  backPressure.tick()
  expect(budget.bytesInFlight).toBe(0)
  socket.push(message.subarray(50_000))
  await expect.poll(() => received).toEqual([message.length])
  expect(budget.bytesInFlight).toBe(reserved)
})

test('QoS 0 is skipped while the budget is used up, also when it comes in pieces, and what follows it is read', async () => {
  const budget = new IngestBudget()
  useUp(budget)
  const received: Buffer[] = []
  const { socket } = newReader(budget, (frame) => received.push(frame))
  for (const piece of pieces(Buffer.concat([frames.publish('t', 'x'.repeat(5000), 0), frames.pingreq]), [999])) {
    socket.push(piece)
  }
  await expect.poll(() => received).toEqual([frames.pingreq])
})

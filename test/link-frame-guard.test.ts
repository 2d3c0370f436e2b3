// The gate: however bytes are cut, frames come whole and in their order; and nobody starves in line.
import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Gate } from '../src/link/mqtt/gate.ts'
import { Pressure } from '../src/link/mqtt/ingest-budget.ts'
import { frames } from './raw-mqtt.ts'

const pubrel = Buffer.from([0x62, 2, 0, 1])

/** Frames of all kinds, the published ones with their place in the row as packet id. */
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

/** What comes after the length of a frame. */
const bodyOf = (frame: Buffer) => frame.subarray(frame.findIndex((byte, i) => i > 0 && byte < 128) + 1)

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
      const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
      const pressure = new Pressure()
      const seen: string[] = []
      let inFlight = 0
      const gate: Gate = new Gate(stream, pressure, {
        published: (first, body) => {
          seen.push(`published ${first} ${body.toString('hex')}`)
          if (first === 0x62) return
          expect(++inFlight).toBeLessThanOrEqual(8)
          setImmediate(() => {
            inFlight--
            pressure.free(body.length)
            gate.answered(1)
          })
        },
        controlled: (first, body) => seen.push(`controlled ${first} ${body.toString('hex')}`),
        dropped: () => expect.unreachable('there is room'),
      })
      gate.open(128 * 1024)
      const ended = new Promise((resolve) => stream.once('end', resolve))
      for (const piece of pieces(Buffer.concat(sent), sizes)) {
        stream.push(piece)
        if (piece.length % 2 === 0) await new Promise(setImmediate)
      }
      stream.push(null)
      await ended
      const isPublished = (first: number) => first >> 4 === 3 || first === 0x62
      expect(seen).toEqual(
        sent.map((bytes) => {
          const first = bytes[0] as number
          return `${isPublished(first) ? 'published' : 'controlled'} ${first} ${bodyOf(bytes).toString('hex')}`
        }),
      )
      while (inFlight > 0) await new Promise(setImmediate)
      expect(pressure.underWay).toBe(0)
    }),
    { numRuns: 300 },
  )
}, 60_000)

test('a stranger is heard once, and what comes behind his name waits until he is known', async () => {
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const seen: string[] = []
  const gate = new Gate(stream, new Pressure(), {
    published: (first) => seen.push(`published ${first}`),
    controlled: (first, body) => seen.push(`controlled ${first} ${body.length}`),
    dropped: () => expect.unreachable('there is room'),
  })
  const connect = frames.connect('name', 'secret')
  const more = Buffer.concat([frames.publish('t', 'x', 1, 1), frames.pingreq])
  for (const piece of [connect.subarray(0, 9), Buffer.concat([connect.subarray(9), more]), frames.pingreq]) {
    stream.push(piece)
    await new Promise(setImmediate)
  }
  const name = `controlled ${0x10} ${connect.length - 2}`
  expect(seen).toEqual([name])
  gate.open(128 * 1024)
  expect(seen).toEqual([name, `published ${0x32}`, `controlled ${0xc0} 0`, `controlled ${0xc0} 0`])
  stream.destroy()
})

test('places go to those who wait, in the order in which they came; who comes again is behind all others', async () => {
  const pressure = new Pressure()
  const size = 4 * 1024 * 1024
  for (let i = 0; i < 4; i++) expect(pressure.take(size)).toBe(true)
  expect(pressure.take(1), 'it is full').toBe(false)
  const turns: string[] = []
  const again = (name: string) => {
    const bearer = {
      go() {
        turns.push(name)
        if (turns.length < 9) pressure.takeOrWait(size, bearer)
        pressure.free(size)
      },
    }
    return bearer
  }
  for (const name of ['a', 'b', 'c']) expect(pressure.takeOrWait(size, again(name))).toBe(false)
  const gone = again('gone')
  pressure.takeOrWait(size, gone)
  pressure.leave(gone)
  expect(pressure.waiting).toBe(3)
  pressure.free(size)
  expect(pressure.take(1), 'while somebody waits, nobody gets in between').toBe(false)
  await expect.poll(() => turns.length).toBeGreaterThanOrEqual(9)
  expect(turns.slice(0, 9).join('')).toBe('abcabcabc')
})

test('who goes leaves its place: in line, when it is called, in the middle of a message', async () => {
  const little = 1024
  const fill = (pressure: Pressure) => {
    let count = 0
    while (pressure.take(little)) count++
    return count
  }
  const room = fill(new Pressure())
  const message = frames.publish('t', 'x'.repeat(100_000), 1, 1)
  for (const moment of ['in line', 'called', 'in the middle'] as const) {
    const pressure = new Pressure()
    const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    const gate = new Gate(stream, pressure, {
      published: () => expect.unreachable('it is not all there'),
      controlled: () => expect.unreachable('there is no such frame'),
      dropped: () => expect.unreachable('it is not QoS 0'),
    })
    gate.open(128 * 1024)
    let taken = moment === 'in the middle' ? 0 : fill(pressure)
    const leave = () => {
      for (; taken > 0; taken--) pressure.free(little)
      return new Promise(setImmediate)
    }
    stream.push(message.subarray(0, 50_000))
    await new Promise(setImmediate)
    expect(pressure.waiting, moment).toBe(moment === 'in the middle' ? 0 : 1)
    stream.removeAllListeners('readable')
    if (moment === 'called') await leave()
    stream.destroy()
    await new Promise((resolve) => stream.once('close', resolve))
    await leave()
    expect(fill(pressure), moment).toBe(room)
  }
})

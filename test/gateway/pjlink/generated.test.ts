// Generated projectors: answers in any pieces, with rubbish, errors, answers to other questions, silence and closed connections.
import type { Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { Compile } from 'typebox/compile'
import { expect, test } from 'vitest'
import { StatusReport, type UpMessage } from '../../../src/contract/device/protocol.ts'
import { type DeviceNetwork, type Driver, DriverFailure, type DriverSession } from '../../../src/gateway/driver.ts'
import { pjlinkDriver } from '../../../src/gateway/drivers/pjlink/pjlink-driver.ts'
import { type PjlinkTimings, usualPjlinkTimings } from '../../../src/gateway/drivers/pjlink/timings.ts'
import { runCount } from '../../support/long-form.ts'

/** A sequence of random numbers that depends only on its seed. */
function randomFrom(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { below, pick: <T>(list: readonly T[]): T => list[below(list.length)] as T }
}
type Random = ReturnType<typeof randomFrom>

const truth: Record<string, readonly string[]> = {
  POWR: ['0', '1', '2', '3'],
  CLSS: ['1', '2'],
  INPT: ['11', '31', '6A'],
  INST: ['11 31 6A', '31', '11 12 13 14 15 16 17 18 19'],
  AVMT: ['11', '21', '30', '31'],
  ERST: ['000000', '102000', '222222', '000010'],
  LAMP: ['1200 1', '17 0 99999 1', '5 1 6 1 7 0 8 0 9 0 10 0 11 1 12 1'],
  NAME: ['Hall', 'S\xfcd', ''],
  INF1: ['Lumen', ''],
  INF2: ['LX-400', 'L\xe9'],
  INFO: ['', 'text'],
  SNUM: ['A1', '0000', 'B2'],
  SVER: ['1.08'],
  INNM: ['HDMI', 'Computer', 'Beamer \xc3\xa4'],
  IRES: ['1920x1080', '-', '*'],
  RRES: ['1920x1200'],
  FILT: ['310', '0'],
  RLMP: ['LL'],
  RFIL: ['FF'],
}
const names = Object.keys(truth)

/** A projector that says true things and rubbish, and remembers every byte of it. */
class RubbishProjector {
  readonly #random: Random
  readonly #isRubbish: boolean
  readonly #said: string[][] = []
  questions = 0
  isDead = false

  constructor(random: Random, isRubbish: boolean) {
    this.#random = random
    this.#isRubbish = isRubbish
  }

  attend(stream: Duplex): void {
    const said: string[] = []
    this.#said.push(said)
    stream.on('error', () => {})
    const say = (text: string) => {
      said.push(text)
      this.#write(stream, text)
    }
    stream.on('data', (chunk: Buffer) => this.#answer(chunk.toString('latin1'), stream, say))
    if (this.#isRubbish && this.#random.below(40) === 0) return void say(this.#rubbish())
    say('PJLINK 0\r')
  }

  #answer(text: string, stream: Duplex, say: (text: string) => void): void {
    const [, pjlinkClass = '1', name = '', parameter = ''] = /%([12])(....) (.*)\r/.exec(text) ?? []
    this.questions++
    const answer = (to: string) => `%${pjlinkClass}${to}=${this.#random.pick(truth[to] ?? ['ERR1'])}\r`
    const right = parameter.startsWith('?') ? answer(name) : `%1${name}=OK\r`
    if (!this.#isRubbish) return void say(right)
    const { below, pick } = this.#random
    const kinds: readonly (() => void)[] = [
      () => say(`%${pjlinkClass}${name}=ERR${1 + below(4)}\r`),
      () => say(answer(pick(names)) + right),
      () => say(right + answer(pick(names))),
      () => say(answer(pick(names))),
      () => say(`${this.#rubbish()}\r${right}`),
      () => say(this.#rubbish() + right),
      () => say(this.#damage(right)),
      () => say(`%${pjlinkClass}${name}=${this.#rubbish()}\r`),
      () => say(right.toLowerCase().replace(/\r/, '\r\n')),
      () => say(`\0\0${right.replace('=', '\0=')}`),
      () => say('PJLINK ERRA\r'),
      () => void stream.destroy(),
      () => {},
      () => say('y'.repeat(below(3_000))),
      () => say('%1POWR=OK\r'),
    ]
    if (below(4) === 0) pick(kinds)()
    else say(right)
  }

  #rubbish(): string {
    return Array.from({ length: this.#random.below(60) }, () => String.fromCharCode(this.#random.below(256))).join('')
  }

  #damage(text: string): string {
    const at = this.#random.below(text.length)
    const by = this.#random.pick(['', '%', '=', String.fromCharCode(this.#random.below(256))])
    return text.slice(0, at) + by + text.slice(at + 1)
  }

  /** Writes in pieces of any size. */
  #write(stream: Duplex, text: string): void {
    let bytes = Buffer.from(text, 'latin1')
    while (bytes.length > 0) {
      const size = this.#random.below(3) === 0 ? 1 + this.#random.below(bytes.length) : bytes.length
      if (stream.writable) stream.write(bytes.subarray(0, size))
      bytes = bytes.subarray(size)
    }
  }

  /** The values of all answers by question, in Latin-1. */
  said(): Map<string, string[]> {
    const said = new Map(names.map((name): [string, string[]] => [name, []]))
    for (const line of this.#said.flatMap((texts) =>
      texts
        .join('')
        .replaceAll('\0', '')
        .split(/[\r\n]/),
    )) {
      const [, name = '', value = ''] = /^%[12](....)=(.*)$/s.exec(line) ?? []
      said.get(name.toUpperCase())?.push(value)
    }
    return said
  }
}

const openNetwork = (projector: RubbishProjector): DeviceNetwork => ({
  resolve: async (host) => host,
  connect: async () => {
    if (projector.isDead) throw new DriverFailure('UNREACHABLE', 'It is gone.')
    const [near, far] = duplexPair()
    projector.attend(far)
    // The driver uses no more than a stream.
    return near as unknown as Socket
  },
  connectTls: () => {
    throw new Error('PJLink has no TLS.')
  },
})

/** Both ways to read a text. */
const textsOf = (said: readonly string[]) =>
  said.flatMap((text) =>
    [text, Buffer.from(text, 'latin1').toString('utf8')].map((each) => each.replaceAll(/\p{C}/gu, '').trim()),
  )
const plainKinds = ['', 'RGB', 'Video', 'Digital', 'Storage', 'Network', 'Internal']
const plainNames = (codes: readonly string[]) =>
  codes
    .flatMap((code) => code.split(' '))
    .map((code) => `${plainKinds[Number(code[0])]} ${code.slice(1)}`.toUpperCase())

/** Lists the values of a report that the projector did not say. */
function unsaid(projector: RubbishProjector, report: UpMessage<'status'>): string[] {
  const values = projector.said()
  const said = (name: string) => values.get(name) ?? []
  const has = (name: string, ...values: string[]) => said(name).some((value) => values.includes(value.toUpperCase()))
  const isNotNow = has('POWR', 'ERR2', 'ERR3')
  const powers: Record<string, boolean> = {
    ON: has('POWR', '1'),
    STANDBY: has('POWR', '0', '2') || isNotNow || has('POWR', 'OK'),
    CHANGING: has('POWR', '2', '3') || isNotNow,
  }
  const isInput = (name: string, text: string) =>
    plainNames(said(name)).includes(text.toUpperCase()) || textsOf(said('INNM')).includes(text)
  const errors = ['fan', 'lamp', 'temperature', 'cover', 'filter', 'other']
  const isFault = ({ code, level }: { code: string; level: string }) => {
    if (code === 'failure') return names.some((name) => has(name, 'ERR4'))
    if (code === 'onAgain') return has('POWR', '1') || has('POWR', '3')
    const digit = level === 'WARNING' ? '1' : '2'
    return said('ERST').some((value) => /^\d{6}$/.test(value) && value[errors.indexOf(code)] === digit)
  }
  const isReading = ({ name, value }: { name: string; value: number }) =>
    said(name === 'filterHours' ? 'FILT' : 'LAMP').some((each) => each.split(' ').map(Number).includes(value))
  const facts: Record<string, string> = {
    information: 'INFO',
    lampModel: 'RLMP',
    filterModel: 'RFIL',
    recommendedResolution: 'RRES',
  }
  const isFact = ({ name, text }: { name: string; text: string }) => {
    if (name === 'picture') return has('AVMT', '11', '31')
    if (name === 'pjlinkClass') return text === '1' || has('CLSS', '2')
    return textsOf(said(facts[name] as string)).some((each) => each.toLowerCase() === text.toLowerCase())
  }
  const checks: Record<string, (value: never) => boolean> = {
    kind: (value) => value === 'PROJECTOR',
    actions: (value) => JSON.stringify(value) === '["power"]',
    power: (value) => powers[value] ?? false,
    name: (value) => textsOf(said('NAME')).includes(value),
    manufacturer: (value) => textsOf(said('INF1')).includes(value),
    firmwareVersion: (value) => textsOf(said('SVER')).includes(value),
    model: (value) => value === 'PJLink projector' || textsOf(said('INF2')).includes(value),
    serial: (value) => textsOf(said('SNUM')).includes(value),
    activeInput: (value) => isInput('INPT', value),
    inputs: (value: string[]) => value.every((each) => isInput('INST', each)),
    inputResolution: (value: string) => (value === '' ? has('IRES', '-') : has('IRES', value.toUpperCase())),
    muted: (value) => (value ? has('AVMT', '21', '31') : has('AVMT', '10', '11', '20', '30')),
    faults: (value: { code: string; level: string }[]) => value.every(isFault),
    readings: (value: { name: string; value: number }[]) => value.every(isReading),
    facts: (value: { name: string; text: string }[]) => value.every(isFact),
  }
  return Object.entries(report).flatMap(([field, value]) =>
    value === null || value === undefined || checks[field]?.(value as never)
      ? []
      : [`${field} ${JSON.stringify(value)}`],
  )
}

const isReport = Compile(StatusReport)
/** So short that silence costs little; a busy machine makes more of it, which is just as good. */
const timings: PjlinkTimings = {
  ...usualPjlinkTimings,
  attemptMs: 40,
  answerMs: 20,
  challenge256Ms: 10,
  minGapMs: 0,
  pollUnitMs: 0.2,
  retryEveryMs: 1,
  seldomMs: 10,
  quietMs: 5,
  followMs: 1,
  powerMs: 60,
  longestChangeMs: 20,
}

interface RunResult {
  readonly seed: number
  readonly wrong: readonly string[]
  readonly questions: number
  readonly wasOpen: boolean
}

async function talk(driver: Driver, seed: number, isRubbish: boolean): Promise<RunResult> {
  const random = randomFrom(seed)
  const projector = new RubbishProjector(random, isRubbish)
  const wrong: string[] = []
  const check = (report: UpMessage<'status'>) => {
    wrong.push(...unsaid(projector, report))
    const present = Object.fromEntries(
      Object.entries(report).filter(([field]) => field !== 'model' && field !== 'serial'),
    )
    if (!isReport.Check(present)) wrong.push(`not a status report: ${JSON.stringify(report)}`)
  }
  const item = { host: `projector-${seed}`, port: 4352, options: { pollSeconds: 5 } }
  const context = { network: openNetwork(projector), signal: new AbortController().signal }
  let session: DriverSession
  try {
    session = await driver.open(item, context)
  } catch (error) {
    if (!(error instanceof DriverFailure)) wrong.push(`open threw ${error}`)
    return { seed, wrong, questions: projector.questions, wasOpen: false }
  }
  const ended = new Promise<void>((resolve) => {
    session.once('ended', (failure) => {
      if (!(failure instanceof DriverFailure)) wrong.push(`ended with ${failure}`)
      resolve()
    })
  })
  check({ ...session.identity })
  check(session.status())
  session.on('status', (changes) => {
    check(changes)
    if (projector.questions > 60) projector.isDead = true
  })
  const switched = random.below(4) === 0 ? session.power?.(random.below(2) === 0).catch(() => {}) : undefined
  const enough = setTimeout(() => {
    projector.isDead = true
  }, 300)
  await ended
  clearTimeout(enough)
  await switched
  return { seed, wrong, questions: projector.questions, wasOpen: true }
}

async function talkToMany(count: number, isRubbish: boolean): Promise<RunResult[]> {
  const driver = pjlinkDriver(isRubbish ? timings : { ...timings, attemptMs: 10_000, answerMs: 10_000 })
  const results: RunResult[] = []
  const seeds = Array.from({ length: count }, (_, i) => i + 1)
  const work = async () => {
    for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop())
      results.push(await talk(driver, seed, isRubbish))
  }
  await Promise.all(Array.from({ length: 50 }, work))
  return results
}

test('rubbish neither ends the process nor hangs a session, and only what the projector said is reported', async () => {
  const results = await talkToMany(runCount({ short: 400, full: 3_000, long: 20_000 }), true)
  expect(results.filter(({ wrong }) => wrong.length > 0).slice(0, 5)).toEqual([])
  // The test is about sessions: enough of them have to be open.
  expect(results.filter(({ wasOpen }) => wasOpen).length).toBeGreaterThan(results.length / 20)
  expect(results.reduce((sum, { questions }) => sum + questions, 0)).toBeGreaterThan(results.length * 5)
})

test('right answers in any pieces are understood', async () => {
  const results = await talkToMany(runCount({ short: 100, full: 500, long: 2_000 }), false)
  expect(results.filter(({ wrong, wasOpen }) => wrong.length > 0 || !wasOpen)).toEqual([])
})

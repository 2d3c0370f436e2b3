// The driver copes with each of the twenty quirks of real projectors, or says in words what is wrong.
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { ProjectorQuirks } from '../../../src/simulator/hardware-fakes/projector/quirks.ts'
import { meetProjector, shortPjlinkTimings } from './projector-session.ts'

const password = 'JBMIAProjectorLink'
const allInputs = ['Computer', 'HDMI 1', 'HDMI 2']

const meetWith = (quirks: ProjectorQuirks, more: Parameters<typeof meetProjector>[0] = {}) =>
  meetProjector({ ...more, projector: { ...more.projector, quirks } })

describe('quirk 1: the digest', () => {
  test.each(['every', 'first'] as const)('is sent as the projector wants it: %s', async (digest) => {
    for (const sha256 of ['answered', 'erra'] as const) {
      const { open, fake } = await meetWith({ digest, sha256 }, { projector: { password } })
      const { status } = await open()
      await expect.poll(() => status.inputs).toEqual(allInputs)
      // The driver has learnt what this projector wants: from now on each poll needs one connection.
      const before = { connections: fake.totalConnections, polls: fake.commands.filter(isPoll).length }
      await expect.poll(() => fake.commands.filter(isPoll).length).toBeGreaterThan(before.polls + 1)
      expect(fake.totalConnections - before.connections).toBeLessThanOrEqual(
        fake.commands.filter(isPoll).length - before.polls + 1,
      )
    }
  })
  const isPoll = (command: string) => command === '%1POWR ?'
})

test('quirk 2: ERRA in a connection that was good is not a wrong password', async () => {
  for (const digest of [undefined, 'first'] as const) {
    const quirks = { refusesGoodConnections: 1, ...(digest && { digest }) }
    const { open } = await meetWith(quirks, { projector: { password } })
    const { status, session } = await open()
    expect(session.identity.serial).toBe('LX400-00017')
    await expect.poll(() => status.inputs).toEqual(allInputs)
  }
})

test('quirk 3: a random text that is not hexadecimal is answered with MD5', async () => {
  const { open } = await meetWith({ oddRandom: true, sha256: 'erra' }, { projector: { password } })
  const { status } = await open()
  await expect.poll(() => status.inputs).toEqual(allInputs)
})

test.each(['answered', 'erra', 'closes', 'silent'] as const)(
  'quirk 4: a projector that has %s the challenge of version 2.10 is asked with the challenge that it knows',
  async (sha256) => {
    const timings = sha256 === 'silent' ? { challenge256Ms: 50 } : {}
    const { open, fake } = await meetWith({ sha256 }, { projector: { password }, timings })
    const { session, status } = await open()
    expect(session.identity.model).toBe('LX-400')
    // The first connection of an old projector fails, and it is not asked for the new challenge again.
    expect(fake.totalConnections).toBe(sha256 === 'answered' ? 1 : 2)
    await expect.poll(() => status.inputs).toEqual(allInputs)
  },
)

test('quirk 5: a connection that was closed because it was idle is opened again without a word', async () => {
  const { open, fake, network } = await meetWith({ idleCloseMs: 15 })
  const { status, ended } = await open({ options: { pollSeconds: 10, keepOpen: true } })
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  await expect.poll(() => network.connects).toBeGreaterThan(4)
  fake.input = '32'
  await expect.poll(() => status.activeInput).toBe('HDMI 2')
  expect(hasEnded).toBe(false)
})

test.each([
  [['nul']],
  [['lowerCase']],
  [['crLf']],
  [['halves']],
  [['pairs']],
  [['nul', 'lowerCase', 'crLf', 'halves', 'pairs']],
] as const)('quirk 6: answers are understood with %j', async (framing) => {
  const { open } = await meetWith({ framing, sha256: 'erra' }, { projector: { password } })
  const { session, status } = await open()
  expect(session.identity).toMatchObject({ manufacturer: 'Lumen', model: 'LX-400', serial: 'LX400-00017' })
  await expect.poll(() => status.inputs).toEqual(allInputs)
  expect(status).toMatchObject({ power: 'ON', activeInput: 'HDMI 1', name: 'Hall projector', faults: [] })
})

describe('quirk 7: queries are refused in standby', () => {
  const notInStandby = ['INPT', 'INST', 'AVMT', 'ERST', 'LAMP', 'NAME', 'FILT', 'IRES', 'INNM', 'INFO']

  test('what is not told is not reported, and is read when the projector is on', async () => {
    const { open, fake } = await meetWith({ notInStandby }, { powr: '0' })
    const { status } = await open()
    await expect.poll(() => fake.commands.filter((command) => command === '%1ERST ?').length).toBeGreaterThan(2)
    expect(Object.keys(status).sort()).toEqual(['actions', 'facts', 'firmwareVersion', 'kind', 'manufacturer', 'power'])
    await fake.press(true)
    await expect.poll(() => status.inputs).toEqual(allInputs)
    expect(status).toMatchObject({ power: 'ON', activeInput: 'HDMI 1', faults: [] })
    expect(status.readings).toHaveLength(2)
  })

  test.each(['INF2', 'SNUM', 'CLSS'])(
    'a new projector that does not tell %s in standby has to be switched on once',
    async (name) => {
      const { open, fake } = await meetWith({ notInStandby: [name] }, { powr: '0' })
      await expect(open()).rejects.toMatchObject({
        state: 'UNREACHABLE',
        message: expect.stringMatching(/standby. Switch it on once/),
      })
      expect((await open({ isEnrolled: true })).status.power).toBe('STANDBY')
      await fake.press(true)
      await expect.poll(() => fake.powr).toBe('1')
      expect((await open()).session.identity).toMatchObject({ model: 'LX-400', serial: 'LX400-00017' })
    },
  )

  test('a projector that does not even tell its power is changing, and after the longest change in standby', async () => {
    const timings = { longestChangeMs: 150 }
    const { open, fake } = await meetWith({ notInStandby: ['POWR'] }, { timings })
    const { session, status, powers } = await open()
    await session.power?.(false)
    expect(fake.powr).toBe('0')
    expect(status.power).toBe('STANDBY')
    expect(powers).toEqual(['ON', 'CHANGING', 'STANDBY'])
  })
})

test('quirk 8: ERR2 that means ERR3 is "not now"', async () => {
  const quirks = { err2ForErr3: true, notInStandby: ['ERST', 'LAMP'] }
  const { open, fake } = await meetWith(quirks, { projector: { coolDownMs: 100, warmUpMs: 20 } })
  const { session, status } = await open()
  await fake.press(false)
  await session.power?.(true)
  expect(status.power).toBe('ON')
  await expect.poll(() => status.readings).toHaveLength(2)
})

test('quirk 9: a projector that is silent after a change of power keeps its session', async () => {
  const { open, network, timings } = await meetWith(
    { silentAfterPowerMs: 300 },
    { timings: { quietMs: 30_000 }, projector: { coolDownMs: 20, warmUpMs: 20 } },
  )
  const { session, status, ended } = await open()
  Object.assign(timings, { answerMs: 50, attemptMs: 60 })
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  await session.power?.(false)
  expect(status.power).toBe('STANDBY')
  await session.power?.(true)
  expect(status.power).toBe('ON')
  expect(hasEnded).toBe(false)
  // Packets that are dropped are not silence: there is no connection.
  network.dropsPackets = true
  expect((await ended).state).toBe('UNREACHABLE')
})

test('quirk 9: a projector that cannot be reached while it warms up keeps its session', async () => {
  const { open, network, timings, fake } = await meetProjector({
    powr: '0',
    timings: { quietMs: 30_000 },
    projector: { warmUpMs: 600_000 },
  })
  const { session, status, ended } = await open()
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  const switched = session.power?.(true)
  await expect.poll(() => fake.powr).toBe('3')
  Object.assign(timings, { answerMs: 50, attemptMs: 60 })
  network.dropsPackets = true
  const before = network.connects
  await expect.poll(() => network.connects).toBeGreaterThan(before + 4)
  Object.assign(timings, { ...shortPjlinkTimings, quietMs: 30_000 })
  network.dropsPackets = false
  fake.powr = '1'
  await switched
  expect(status.power).toBe('ON')
  expect(hasEnded).toBe(false)
})

test('quirk 10: a projector that never says cooling or warm-up is switched, even while it cools', async () => {
  const { open, fake } = await meetWith({ neverChanging: true }, { projector: { coolDownMs: 100, warmUpMs: 20 } })
  const { session, powers } = await open()
  await session.power?.(false)
  expect(fake.powr).toBe('2')
  await session.power?.(true)
  expect(powers).toEqual(['ON', 'STANDBY', 'ON'])
})

test('quirk 11: a projector without a lamp has no lamp hours', async () => {
  const { open, fake } = await meetWith({ noLamp: true }, { projector: { pjlinkClass: 1 } })
  const { status } = await open({ options: { pollSeconds: 5, lampLifeHours: 1 } })
  await expect.poll(() => status.inputs).toBeDefined()
  expect(status.readings).toBeUndefined()
  expect(status.faults).toEqual([])
  expect(fake.commands.filter((command) => command === '%1LAMP ?')).toHaveLength(1)
})

test('quirk 12: a projector that knows one kind of mute and no errors is read as it speaks', async () => {
  const { open, fake } = await meetWith({ onlyFullMute: true, noErrors: true })
  const { status } = await open()
  fake.errors = '222222'
  fake.mute = '31'
  await expect.poll(() => status.muted).toBe(true)
  expect(status.faults).toEqual([])
})

test('quirk 13: a command that a projector of class 2 lacks is dropped, and the class stays', async () => {
  const lacksInClass2 = ['SNUM', 'INST', 'INPT', 'FILT']
  const { open, fake } = await meetWith({ lacksInClass2 })
  const { session, status } = await open()
  expect(session.identity).toEqual({ manufacturer: 'Lumen', model: 'LX-400', firmwareVersion: '1.08' })
  await expect.poll(() => status.inputs).toEqual(allInputs)
  await expect.poll(() => fake.commands.filter((command) => command === '%1INPT ?').length).toBeGreaterThan(3)
  expect(status).toMatchObject({ activeInput: 'HDMI 1', inputResolution: '1920x1080' })
  for (const name of lacksInClass2) {
    expect(fake.commands.filter((command) => command === `%2${name} ?`)).toHaveLength(1)
  }
})

test('quirk 14: empty INFO is nothing, and a name in Latin-1 is read', async () => {
  const { open, fake } = await meetWith({ emptyInformation: true, latin1: true })
  fake.name = 'Gemäldegalerie Süd'
  const { status } = await open()
  await expect.poll(() => status.name).toBe('Gemäldegalerie Süd')
  await expect.poll(() => status.inputs).toBeDefined()
  expect((status.facts as { name: string }[]).map(({ name }) => name)).not.toContain('information')
})

test('a name in UTF-8 is read', async () => {
  const { open, fake } = await meetProjector()
  fake.name = '東館 プロジェクター'
  const { status } = await open()
  await expect.poll(() => status.name).toBe('東館 プロジェクター')
})

test('quirk 15: an input of more than two characters is shown', async () => {
  const { open } = await meetWith({ longInput: '31A' })
  const { status } = await open()
  await expect.poll(() => status.activeInput).toBe('Digital 1A')
})

/** Connects as a control system does: again, if the projector serves the gateway at that moment. */
async function connectBetweenPolls(port: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    const isServed = await new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true)).once('close', () => resolve(false))
    })
    if (isServed) return socket
  }
}

describe('quirk 16: a projector that cannot do much at the same time', () => {
  test('one that serves another system is UNREACHABLE with the cause, and is back when that has left', async () => {
    const { open, fake, item } = await meetWith({ oneConnection: true })
    const { status, ended } = await open()
    await expect.poll(() => status.inputs).toBeDefined()
    const other = await connectBetweenPolls(item.port)
    const failure = await ended
    expect(failure.state).toBe('UNREACHABLE')
    expect(failure.message).toMatch(/control system/)
    await expect(open()).rejects.toThrow(/control system/)
    other.destroy()
    await expect.poll(() => fake.openConnections).toBe(0)
    expect((await open()).status.power).toBe('ON')
  })

  test.each([
    { pauseMs: 200, hangsWithinMs: 190 },
    { pauseMs: 300, hangsWithinMs: 290 },
  ])('one that hangs when commands come quickly is asked slowly: %o', async ({ pauseMs, hangsWithinMs }) => {
    const { open, fake } = await meetWith(
      { hangsWithinMs },
      { projector: { pjlinkClass: 1 }, timings: { minGapMs: 200 } },
    )
    await open({ options: { pollSeconds: 5, pauseMs } })
    expect(fake.commands.length).toBeGreaterThanOrEqual(4)
    expect(fake.isHung).toBe(false)
  })

  test('one that hangs is UNREACHABLE until its power is cut', async () => {
    const timings = { answerMs: 200, attemptMs: 250 }
    const { open, fake } = await meetWith({ hangsWithinMs: 190 }, { timings })
    await expect(open()).rejects.toMatchObject({ state: 'UNREACHABLE', message: expect.stringMatching(/does not/) })
    expect(fake.isHung).toBe(true)
    fake.cutPower()
    expect((await open({ options: { pollSeconds: 5, pauseMs: 200 } })).status.power).toBe('STANDBY')
  })
})

test('quirk 17: the answer to the question before is not taken for this one', async () => {
  const { open, fake, timings } = await meetWith({ lagsFrom: 8 })
  fake.name = '31'
  const { session, status, changes } = await open()
  timings.answerMs = 60
  expect(session.identity.serial).toBe('LX400-00017')
  await expect.poll(() => fake.commands.filter((command) => command === '%1POWR ?').length).toBeGreaterThan(5)
  expect([undefined, 'HDMI 1', 'Digital 1']).toContain(status.activeInput)
  for (const change of changes) {
    if (change.name) expect(change.name).toBe('31')
    for (const input of (change.inputs ?? []) as string[])
      expect([...allInputs, 'RGB 1', 'Digital 1', 'Digital 2']).toContain(input)
  }
})

describe('quirk 18: a projector that leaves the network in standby', () => {
  test.each(['port', 'host'] as const)('by the %s is in standby, and known to sleep when it is back', async (way) => {
    const leaving = { projector: { coolDownMs: 400 } }
    const { open, fake, network, timings } = await meetWith({ leavesInStandby: way }, leaving)
    const { session, status, ended } = await open()
    expect(status.sleeps).toBeUndefined()
    await fake.press(false)
    // The session sees that the projector cools down.
    await expect.poll(() => status.power).not.toBe('ON')
    Object.assign(timings, { answerMs: 100, attemptMs: 150 })
    await expect.poll(() => fake.powr).toBe('0')
    if (way === 'host') network.dropsPackets = true
    expect((await ended).state).toBe('UNREACHABLE')
    expect(session.status().power).toBe('STANDBY')
    await fake.press(true)
    network.dropsPackets = false
    Object.assign(timings, shortPjlinkTimings)
    const back = await open()
    expect(back.status.sleeps).toBe(true)
  })

  test('when it is switched off from here, that has succeeded', async () => {
    const { open } = await meetWith({ leavesInStandby: 'port' }, { projector: { coolDownMs: 1 } })
    const { session, status, ended } = await open()
    await session.power?.(false)
    expect(status.power).toBe('STANDBY')
    expect((await ended).state).toBe('UNREACHABLE')
  })

  test('a projector that stays in standby for the whole time does not sleep', async () => {
    const { open, fake } = await meetProjector({ timings: { leavesWithinMs: 60 } })
    const { status } = await open()
    await fake.press(false)
    await expect.poll(() => status.sleeps).toBe(false)
  })

  test('a projector that was unplugged while it was on does not sleep', async () => {
    const { open, fake } = await meetProjector()
    const { session, ended } = await open()
    await fake.close()
    await ended
    expect(session.status().power).toBe('ON')
    await fake.listen()
    expect((await open()).status.sleeps).toBeUndefined()
  })
})

describe('quirk 19: a projector that is on again by itself', () => {
  test('while it is switched off fails the command with that reason, and is a fault', async () => {
    const { open } = await meetWith(
      { onAgainAfterCooling: true },
      // A poll must see that it cools down, even on a busy machine.
      { projector: { warmUpMs: 200, coolDownMs: 1_000 } },
    )
    const { session, status } = await open()
    await expect(session.power?.(false)).rejects.toThrow(/on again/)
    expect(status.faults).toEqual([expect.objectContaining({ code: 'onAgain', level: 'WARNING' })])
  })

  test('after it was switched off is a fault until it is off', async () => {
    const { open, fake } = await meetProjector()
    const { session, status } = await open()
    await session.power?.(false)
    await fake.press(true)
    await expect.poll(() => status.power).toBe('ON')
    expect(status.faults).toEqual([expect.objectContaining({ code: 'onAgain' })])
    await fake.press(false)
    await expect.poll(() => status.faults).toEqual([])
  })
})

describe('quirk 20: the web password is the password', () => {
  test('a refused password names it', async () => {
    const { open } = await meetWith({ webPassword: 'web' }, { projector: { password: 'pjlink' } })
    await expect(open()).rejects.toMatchObject({ state: 'REFUSED', message: expect.stringMatching(/web page/) })
    expect((await open({ secret: 'web' })).session.identity.model).toBe('LX-400')
  })

  test('a projector without a password is asked without one, whatever the item has', async () => {
    const { open, fake } = await meetWith({ webPassword: '' })
    expect((await open({ secret: 'anything' })).session.identity.model).toBe('LX-400')
    expect(fake.commands[0]).toBe('%1POWR ?')
  })
})

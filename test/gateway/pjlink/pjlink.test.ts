// The driver for projectors with PJLink: identity, status, faults, power, and when its session ends.
import { Compile } from 'typebox/compile'
import { expect, test } from 'vitest'
import { StatusReport } from '../../../src/contract/device/protocol.ts'
import { DriverFailure } from '../../../src/gateway/driver.ts'
import { md5Digest, sha256Digest } from '../../../src/gateway/drivers/pjlink/challenge.ts'
import { usualPjlinkTimings } from '../../../src/gateway/drivers/pjlink/timings.ts'
import { meetProjector, shortPjlinkTimings } from './projector-session.ts'

const password = 'JBMIAProjectorLink'

test('the digests equal the examples of the specification', () => {
  expect(md5Digest('498e4a67', password)).toBe('5d8409bc1c3fa39749434aa3a5c38682')
  const own = 'c14b279e603d8a5f17e849ba360f2dc5'
  expect(sha256Digest('3db25e10f69c47a85adb24cf361897e0', password, own)).toBe(
    `${own}70ab129eac6924d4c129c9c4fcf45be42e1e776325a66db67e5b6eee50f2a692`,
  )
})

test('a projector of class 2 tells maker, model, serial number and software', async () => {
  const { open } = await meetProjector()
  const { session, status } = await open()
  expect(session.identity).toEqual({
    manufacturer: 'Lumen',
    model: 'LX-400',
    serial: 'LX400-00017',
    firmwareVersion: '1.08',
  })
  expect(session.apply ?? session.reboot ?? session.message).toBeUndefined()
  await expect.poll(() => status.inputs).toEqual(['Computer', 'HDMI 1', 'HDMI 2'])
  expect(status).toEqual({
    kind: 'PROJECTOR',
    actions: ['power'],
    name: 'Hall projector',
    manufacturer: 'Lumen',
    firmwareVersion: '1.08',
    power: 'ON',
    activeInput: 'HDMI 1',
    inputs: ['Computer', 'HDMI 1', 'HDMI 2'],
    inputResolution: '1920x1080',
    muted: false,
    faults: [],
    readings: [
      { name: 'lampHours', value: 1200, unit: 'h' },
      { name: 'filterHours', value: 310, unit: 'h' },
    ],
    facts: expect.arrayContaining([
      { name: 'lampModel', text: 'LX-LAMP' },
      { name: 'pjlinkClass', text: '2' },
    ]),
  })
  expect(session.status()).toEqual(status)
  expect(Compile(StatusReport).Check(status)).toBe(true)
})

test('a projector of class 1 has no serial number and no software, and its inputs have plain names', async () => {
  const { open, fake } = await meetProjector({
    projector: { pjlinkClass: 1, inputs: { 11: '', 22: '', 31: '', 51: '' } },
  })
  const { session, status } = await open()
  expect(session.identity).toEqual({ manufacturer: 'Lumen', model: 'LX-400' })
  await expect.poll(() => status.inputs).toEqual(['RGB 1', 'Video 2', 'Digital 1', 'Network 1'])
  expect(status.activeInput).toBe('Digital 1')
  expect(fake.commands.filter((command) => command.startsWith('%2'))).toEqual([])
})

test('a serial number that is a placeholder is none', async () => {
  const { open } = await meetProjector({ projector: { serial: '00000000' } })
  expect((await open()).session.identity.serial).toBeUndefined()
})

test('an item with the kind DISPLAY is reported as a display', async () => {
  const { open } = await meetProjector()
  const { status } = await open({ options: { pollSeconds: 5, kind: 'DISPLAY' } })
  expect(status.kind).toBe('DISPLAY')
})

test('only fields that changed are reported, and what is not known in standby is taken back', async () => {
  const { open, fake } = await meetProjector()
  const { status, changes } = await open()
  await expect.poll(() => status.inputs).toContain('HDMI 2')
  const before = changes.length
  fake.input = '32'
  fake.mute = '21'
  await expect.poll(() => status.muted).toBe(true)
  expect(changes.slice(before).map((change) => Object.keys(change).sort())).toContainEqual(['activeInput', 'muted'])
  expect(status.activeInput).toBe('HDMI 2')
  fake.mute = '11'
  await expect.poll(() => status.muted).toBe(false)
  expect(status.facts).toContainEqual({ name: 'picture', text: 'The picture is muted: the screen is black.' })
  fake.resolution = '-'
  await expect.poll(() => status.inputResolution).toBe('')
  await fake.press(false)
  await expect.poll(() => status.power).toBe('STANDBY')
  expect(status).toMatchObject({ activeInput: null, muted: null, inputResolution: null })
  expect(status.inputs).toEqual(['Computer', 'HDMI 1', 'HDMI 2'])
})

test('warm-up and cool-down are CHANGING', async () => {
  const { open, fake } = await meetProjector({ powr: '0', projector: { warmUpMs: 200, coolDownMs: 200 } })
  const { status, powers } = await open()
  expect(status.power).toBe('STANDBY')
  await fake.press(true)
  await expect.poll(() => status.power).toBe('ON')
  await fake.press(false)
  await expect.poll(() => status.power).toBe('STANDBY')
  expect(powers).toEqual(['STANDBY', 'CHANGING', 'ON', 'CHANGING', 'STANDBY'])
})

test('each digit of ERST is a fault in words: 1 a warning, 2 critical', async () => {
  const { open, fake } = await meetProjector()
  const { status } = await open()
  fake.errors = '121212'
  await expect.poll(() => status.faults).toHaveLength(6)
  expect((status.faults as { code: string; level: string }[]).map(({ code, level }) => `${code} ${level}`)).toEqual([
    'fan WARNING',
    'lamp CRITICAL',
    'temperature WARNING',
    'cover CRITICAL',
    'filter WARNING',
    'other CRITICAL',
  ])
  for (const { text } of status.faults as { text: string }[]) expect(text).toMatch(/^[A-Z].{20,}\.$/)
  expect(Compile(StatusReport).Check(status)).toBe(true)
  fake.errors = '000000'
  await expect.poll(() => status.faults).toEqual([])
})

test('a question that is answered with ERR4 is a critical fault until it is answered again', async () => {
  const { open, fake } = await meetProjector()
  const { session, status } = await open()
  fake.failing = ['AVMT', 'POWR']
  await expect.poll(() => status.faults).toEqual([expect.objectContaining({ code: 'failure', level: 'CRITICAL' })])
  expect(status.power).toBeNull()
  await expect(session.power?.(false)).rejects.toThrow(/ERR4/)
  fake.failing = []
  await expect.poll(() => status.faults).toEqual([])
  expect(status).toMatchObject({ power: 'ON', muted: false })
})

test('several lamps are several readings, and worn lamps and filters are faults', async () => {
  const { open, fake } = await meetProjector()
  fake.lamps = [
    { hours: 2_999, isLit: true },
    { hours: 3_000, isLit: false },
  ]
  fake.filterHours = 501
  const { status } = await open({ options: { pollSeconds: 5, lampLifeHours: 3_000, filterLifeHours: 500 } })
  await expect.poll(() => status.faults).toHaveLength(2)
  expect(status.readings).toEqual([
    { name: 'lampHours', value: 2_999, unit: 'h' },
    { name: 'lampHours2', value: 3_000, unit: 'h' },
    { name: 'filterHours', value: 501, unit: 'h' },
  ])
  expect(status.faults).toEqual([
    { code: 'lampWorn2', level: 'WARNING', text: 'Lamp 2 has run for 3,000 hours of 3,000 hours. Replace it.' },
    {
      code: 'filterWorn',
      level: 'WARNING',
      text: 'The filter has run for 501 hours of 500 hours. Clean or replace it.',
    },
  ])
})

test('lamp hours and lists are read again seldom, and after the projector was switched on', async () => {
  const { open, fake } = await meetProjector()
  const { status } = await open()
  await expect.poll(() => status.readings).toBeDefined()
  const count = (command: string) => fake.commands.filter((each) => each === command).length
  const polls = count('%1POWR ?')
  await expect.poll(() => count('%1POWR ?')).toBeGreaterThan(polls + 3)
  expect(count('%1LAMP ?')).toBe(1)
  expect(count('%2INST ?')).toBe(1)
  fake.lamps = [{ hours: 1_201, isLit: true }]
  await fake.press(false)
  await expect.poll(() => status.power).toBe('STANDBY')
  await fake.press(true)
  await expect.poll(() => status.readings).toContainEqual({ name: 'lampHours', value: 1_201, unit: 'h' })
})

test('the connection is closed between polls, so another system has its turn', async () => {
  const { open, fake, network } = await meetProjector()
  await open()
  await expect.poll(() => network.connects).toBeGreaterThan(3)
  await expect.poll(() => fake.openConnections).toBe(0)
  expect(network.mostOpen).toBe(1)
})

test('with keepOpen, one connection serves all polls', async () => {
  const { open, fake, network } = await meetProjector()
  await open({ options: { pollSeconds: 5, keepOpen: true } })
  await expect.poll(() => fake.commands.filter((command) => command === '%1POWR ?').length).toBeGreaterThan(4)
  expect(network.connects).toBe(1)
})

test.each(['sha256', 'md5'] as const)('a right password is accepted with %s', async (challenge) => {
  const quirks = challenge === 'md5' ? { sha256: 'erra' as const } : {}
  const { open } = await meetProjector({ projector: { password, quirks } })
  const { session, status } = await open()
  expect(session.identity.model).toBe('LX-400')
  await expect.poll(() => status.inputs).toHaveLength(3)
})

test.each(['answered', 'erra', 'closes', 'silent'] as const)(
  'a wrong password is REFUSED after one attempt, with a projector that has %s SHA-256',
  async (sha256) => {
    const timings = sha256 === 'silent' ? { challenge256Ms: 50 } : {}
    const { open, fake } = await meetProjector({ projector: { password, quirks: { sha256 } }, timings })
    const failure = await open({ secret: 'wrong' }).catch((error) => error)
    expect(failure).toBeInstanceOf(DriverFailure)
    expect(failure.state).toBe('REFUSED')
    expect(failure.message).toMatch(/refuses the password.*web page/)
    expect(failure.message).not.toContain('wrong')
    expect(fake.commands).toEqual([])
    // The old challenge needs a second connection, on which the password is tried for the first time.
    expect(fake.totalConnections).toBe(sha256 === 'answered' ? 1 : 2)
  },
)

test('with the challenge md5, SHA-256 is not tried; with sha256, MD5 is never sent', async () => {
  const { open, fake } = await meetProjector({ projector: { password, quirks: { sha256: 'erra' } } })
  const options = { pollSeconds: 5 }
  await expect(open({ options: { ...options, challenge: 'sha256' } })).rejects.toMatchObject({ state: 'UNSUPPORTED' })
  expect(fake.commands).toEqual([])
  const before = fake.totalConnections
  const { session } = await open({ options: { ...options, challenge: 'md5' } })
  expect(session.identity.model).toBe('LX-400')
  expect(fake.totalConnections - before).toBe(1)
})

test.each([
  [{ pollSeconds: 4 }, 'The option pollSeconds must be a number from 5 to 3600.'],
  [{ pollSeconds: 'often' }, 'The option pollSeconds must be a number from 5 to 3600.'],
  [{ pauseMs: 501 }, /^The option pauseMs must be a number from \d+ to 500\.$/],
  [{ lampLifeHours: -1 }, 'The option lampLifeHours must be a number from 0 to 100000.'],
  [{ challenge: 'sha1' }, 'The option challenge cannot be "sha1". Use auto, md5, sha256.'],
  [{ kind: 'CAMERA' }, 'The option kind cannot be "CAMERA". Use PROJECTOR, DISPLAY.'],
  [{ keepOpen: 'perhaps' }, 'The option keepOpen cannot be "perhaps". Use true, false.'],
])('the wrong option %j is refused in words, and nothing is sent', async (options, message) => {
  const { open, fake } = await meetProjector()
  await expect(open({ options })).rejects.toMatchObject({
    state: 'UNSUPPORTED',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  })
  expect(fake.totalConnections).toBe(0)
})

test('a projector that asks for a password that the item does not have is REFUSED', async () => {
  const { open } = await meetProjector({ projector: { password } })
  await expect(open({ secret: undefined })).rejects.toMatchObject({
    state: 'REFUSED',
    message: expect.stringMatching(/asks for a password/),
  })
})

test('a password that was changed at the projector ends the session as REFUSED, after two attempts', async () => {
  const { open, fake } = await meetProjector({ projector: { password } })
  const { ended } = await open()
  await expect.poll(() => fake.openConnections).toBe(0)
  fake.password = 'another'
  const before = fake.totalConnections
  expect((await ended).state).toBe('REFUSED')
  expect(fake.totalConnections - before).toBeLessThanOrEqual(2)
})

test('power on and off resolve when the projector shows it', async () => {
  const { open, fake } = await meetProjector({ powr: '0', projector: { warmUpMs: 40, coolDownMs: 40 } })
  const { session, status } = await open()
  await session.power?.(true)
  expect(fake.powr).toBe('1')
  expect(status.power).toBe('ON')
  await session.power?.(true)
  await session.power?.(false)
  expect(fake.powr).toBe('0')
  expect(status.power).toBe('STANDBY')
  expect(fake.commands.filter((command) => /^%1POWR [01]$/.test(command))).toEqual(['%1POWR 1', '%1POWR 0'])
})

test('a projector that cools is switched on when it has cooled', async () => {
  const { open, fake } = await meetProjector({ projector: { coolDownMs: 150, warmUpMs: 20 } })
  const { session, powers } = await open()
  await fake.press(false)
  await session.power?.(true)
  expect(fake.powr).toBe('1')
  expect(powers.at(-1)).toBe('ON')
})

test('a projector that cools for longer than the deadline is not switched on, and the reason says so', async () => {
  const { open, fake } = await meetProjector({ projector: { coolDownMs: 60_000 }, timings: { powerMs: 80 } })
  const { session } = await open()
  await fake.press(false)
  await expect(session.power?.(true)).rejects.toThrow(/still cooling down/)
})

test('a command that is followed when the session ends fails with the reason of the end', async () => {
  const { open, fake } = await meetProjector({ projector: { coolDownMs: 60_000 } })
  const { session, ended } = await open()
  await fake.press(false)
  const switched = expect(session.power?.(true)).rejects.toThrow('Nothing listens')
  await fake.close()
  await ended
  await switched
  const again = await meetProjector({ projector: { coolDownMs: 60_000 } })
  const { session: closed } = await again.open()
  const followed = expect(closed.power?.(false)).rejects.toThrow('The connection to the projector was ended.')
  closed.close()
  await followed
})

test('a later command replaces one that is still followed', async () => {
  const { open } = await meetProjector({ projector: { coolDownMs: 300, warmUpMs: 20 } })
  const { session, status } = await open()
  const off = expect(session.power?.(false)).rejects.toThrow(/later command/)
  await expect.poll(() => status.power).toBe('CHANGING')
  await session.power?.(true)
  await off
  expect(status.power).toBe('ON')
})

test('dropped packets end the session as UNREACHABLE, and it can be opened again', async () => {
  const { open, network, timings } = await meetProjector()
  const { ended, status } = await open()
  await expect.poll(() => status.inputs).toHaveLength(3)
  Object.assign(timings, { attemptMs: 60, answerMs: 50 })
  network.dropsPackets = true
  expect((await ended).state).toBe('UNREACHABLE')
  network.dropsPackets = false
  Object.assign(timings, shortPjlinkTimings)
  expect((await open()).status.power).toBe('ON')
})

test('with the usual times, dropped packets are noticed within 45 seconds', () => {
  const { pollUnitMs, attemptMs, retryEveryMs } = usualPjlinkTimings
  const pollMs = 20 * pollUnitMs
  expect(retryEveryMs).toBeGreaterThan(attemptMs)
  expect(pollMs + 2 * retryEveryMs + attemptMs).toBeLessThanOrEqual(40_000)
})

test('a closed session asks nothing and reports nothing', async () => {
  const { open, fake, network } = await meetProjector()
  const { session, changes } = await open()
  let hasEnded = false
  session.on('ended', () => {
    hasEnded = true
  })
  session.close()
  await expect.poll(() => fake.openConnections).toBe(0)
  const before = [network.connects, changes.length]
  await new Promise((resolve) => setTimeout(resolve, 80))
  expect([network.connects, changes.length]).toEqual(before)
  expect(hasEnded).toBe(false)
})

test('an attempt that is aborted ends', async () => {
  const { driver, item, network } = await meetProjector()
  network.dropsPackets = true
  const attempt = new AbortController()
  const opened = driver.open(item, { network, signal: attempt.signal })
  attempt.abort()
  await expect(opened).rejects.toBeInstanceOf(DriverFailure)
})

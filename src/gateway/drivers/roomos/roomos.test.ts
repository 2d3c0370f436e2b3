// A session of the roomos driver with the fake codec, over TLS: identity, status, samples, settings, commands.
import { once } from 'node:events'
import Value from 'typebox/value'
import { afterEach, describe, expect, test } from 'vitest'
import { loopbackNetwork } from '../../../../test/support/gateway/loopback-network.ts'
import type { DeviceSample, UpMessage } from '../../../contract/device/protocol.ts'
import { StatusReport } from '../../../contract/device/protocol.ts'
import { FakeCodec, type FakeCodecOptions } from '../../../simulator/hardware-fakes/codec/fake-codec.ts'
import { releases } from '../../../simulator/hardware-fakes/codec/xapi-table.ts'
import type { DriverFailure, DriverItem, DriverSession } from '../../driver.ts'
import { roomosLimits } from './limits.ts'
import { makeRoomosDriver } from './roomos.ts'

/** Reports come soon after a change, and faults end soon after they are gone. */
const quick = { ...roomosLimits, statusMs: 5, faultHeldMs: 300 }
const driver = makeRoomosDriver(quick)

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function startCodec(options: FakeCodecOptions = {}) {
  const codec = await FakeCodec.start(options)
  cleanUps.push(() => codec.stop())
  return codec
}

const itemOf = (codec: FakeCodec, changes: Partial<DriverItem> = {}): DriverItem => ({
  host: '127.0.0.1',
  port: codec.port,
  username: 'admin',
  secret: 'codec-password',
  options: {},
  fingerprint: codec.fingerprint,
  ...changes,
})

async function openSession(codec: FakeCodec, changes: Partial<DriverItem> = {}, open = driver) {
  const stop = new AbortController()
  const session = await open.open(itemOf(codec, changes), { network: loopbackNetwork, signal: stop.signal })
  cleanUps.push(() => session.close())
  return session
}

const nextStatus = async (session: DriverSession): Promise<UpMessage<'status'>> => (await once(session, 'status'))[0]
const nextSample = async (session: DriverSession): Promise<DeviceSample> => (await once(session, 'sample'))[0]

describe('a session with a codec', () => {
  test('says what the codec is, with its certificate, and what is off', async () => {
    const codec = await startCodec()
    const { identity } = await openSession(codec)
    expect(identity).toEqual({
      manufacturer: 'Cisco',
      model: 'Room Kit Pro',
      serial: 'FOC2600R004',
      firmwareVersion: 'ce26.4.1',
      certificate: { fingerprint: codec.fingerprint, isTrusted: false, validUntil: expect.any(Date) },
      notes: [
        'People are counted during calls only. To count them always, set RoomAnalytics PeopleCountOutOfCall to On.',
      ],
    })
  })

  test('names what the user is not allowed to read, and a detector that is off', async () => {
    const codec = await startCodec({ switches: { denied: ['Diagnostics', 'SystemUnit Software'] } })
    codec.set('Configuration', 'RoomAnalytics PeopleCountOutOfCall', 'On')
    codec.set('Configuration', 'RoomAnalytics PeoplePresenceDetector', 'Off')
    const { identity } = await openSession(codec)
    expect(identity.notes).toEqual([
      'Presence is not detected outside of calls. Set RoomAnalytics PeoplePresenceDetector to On.',
      'The user admin is not allowed to read Diagnostics Message, SystemUnit Software. Give the user the roles Admin and User.',
    ])
    expect(identity.firmwareVersion).toBeUndefined()
  })

  test('has a status with everything that is known', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    const status = session.status()
    expect(Value.Check(StatusReport, status)).toBe(true)
    const { startedAt, ...rest } = status as { startedAt: string }
    expect(Math.abs(Date.parse(startedAt) - (Date.now() - 3_600_000))).toBeLessThan(30_000)
    expect(rest).toEqual({
      name: 'Fjord',
      manufacturer: 'Cisco',
      kind: 'CODEC',
      hardwareVersion: 'C0',
      firmwareVersion: 'ce26.4.1',
      firmwareVersionReleaseName: 'RoomOS 26.4.1',
      power: 'ON',
      sleeps: false,
      inCallStatus: 'NONE',
      inputs: ['Camera 1', 'Table'],
      activeInput: 'Camera 1',
      inputResolution: '1920x1080',
      volume: 50,
      muted: false,
      sensors: ['humidity', 'people', 'temp'],
      peopleIs: 'PRESENCE',
      actions: ['reboot', 'message', 'power', 'config'],
      configKeys: [
        'autoWakeup',
        'dateFormat',
        'hdmiCecControl',
        'language',
        'nightMode',
        'ntpServer',
        'screenReader',
        'screenStandby',
        'screenStayOn',
        'time24h',
        'timezone',
      ],
      peripherals: [
        {
          id: 'device-00:50:60:0a:00:04',
          name: 'Cisco Room Navigator',
          kind: 'PANEL',
          serial: 'FOC2600N004',
          version: '1.4.2',
          connected: true,
        },
        {
          id: 'camera-1',
          name: 'Cisco Quad Camera',
          kind: 'CAMERA',
          serial: 'FOC2600C004',
          version: 'hcam.9',
          connected: true,
        },
        { id: 'microphone-1', name: 'Microphone 1', kind: 'MICROPHONE', connected: true },
        { id: 'microphone-2', name: 'Microphone 2', kind: 'MICROPHONE', connected: false },
        { id: 'display-1', name: 'SAMSUNG', kind: 'DISPLAY', connected: true },
      ],
      faults: [],
      facts: [
        { name: 'product', text: 'Cisco Webex Room Kit Pro' },
        { name: 'lastShutdown', text: 'Restart' },
        { name: 'presentation', text: 'Off' },
      ],
      upgradeStatus: 'None',
      localIpAddress: '10.20.30.40',
      networks: [
        {
          type: 'NETWORK_TYPE_ETHERNET',
          display: 'LAN 1',
          linkUp: true,
          mode: 'NETWORK_MODE_DHCP',
          mtu: 1500,
          macAddress: Buffer.from('001122334455', 'hex').toString('base64'),
          dnsServers: ['10.20.0.53', '10.20.1.53'],
          addresses: [
            { address: { ipv4: Buffer.from([10, 20, 30, 40]).toString('base64') }, prefix: 23 },
            { address: { ipv6: Buffer.from('20010db8000000000000000000000040', 'hex').toString('base64') } },
          ],
          gateway: [{ ipv4: Buffer.from([10, 20, 30, 1]).toString('base64') }],
        },
      ],
      activeNtpServer: '10.20.0.123',
      ntpServerReachable: true,
      timezone: 'Europe/Oslo',
    })
  })

  test.each(releases)('opens with RoomOS %s, whatever that release lacks', async (release) => {
    for (const product of ['Room Kit Pro', 'Board Pro 55 G2'] as const) {
      const codec = await startCodec({ release, product })
      const session = await openSession(codec)
      expect(Value.Check(StatusReport, session.status())).toBe(true)
      expect(session.identity).toMatchObject({ model: product, serial: 'FOC2600R004' })
      codec.set('Status', 'Audio Volume', 60)
      expect(await nextStatus(session)).toEqual({ volume: 60 })
      expect(session.settings?.()).toMatchObject({ timezone: 'Europe/Oslo', time24h: true, screenStandby: 600_000 })
    }
  })

  test('goes on if the codec accepts subscriptions to paths that it does not have', async () => {
    const codec = await startCodec({ release: '9.15', switches: { acceptsUnknownFeedback: true } })
    const session = await openSession(codec)
    expect(session.status()).toMatchObject({ power: 'ON' })
  })

  test.each(['text', 'objects'] as const)('reads a codec that sends its values as %s', async (valuesAre) => {
    const codec = await startCodec({ switches: { valuesAre } })
    const session = await openSession(codec)
    expect(session.status()).toEqual({
      ...(await openSession(await startCodec())).status(),
      startedAt: expect.any(String),
    })
    codec.set('Status', 'Audio Volume', 12)
    expect(await nextStatus(session)).toEqual({ volume: 12 })
  })
})

describe('a codec that allows few subscriptions', () => {
  const often = makeRoomosDriver({ ...quick, readAgainMs: 20 })

  test('has what it does not push read again, and the test of its item says so', async () => {
    const codec = await startCodec({ switches: { maxSubscriptions: 10 } })
    const session = await openSession(codec, {}, often)
    expect(session.identity.notes).toContain(
      'The codec allows only 10 subscriptions. What it does not push is read every 0.02 seconds.',
    )
    codec.set('Status', 'Audio Volume', 61)
    expect(await nextStatus(session)).toEqual({ volume: 61 })
    codec.set('Status', 'Video Output Connector[1] Connected', 'False')
    expect(await nextStatus(session)).toMatchObject({ peripherals: expect.any(Array) })
    codec.set('Configuration', 'Time TimeFormat', '12H')
    await once(session, 'settings')
    expect(session.settings?.()).toMatchObject({ time24h: false })
  })

  test('is asked before a restart that is only for an idle codec, even if the use is not pushed', async () => {
    const codec = await startCodec({ switches: { maxSubscriptions: 0, lacksForce: true } })
    const session = await openSession(codec)
    codec.set('Status', 'SystemUnit State NumberOfActiveCalls', 1)
    expect(await session.isInUse?.()).toBe(true)
    codec.set('Status', 'SystemUnit State NumberOfActiveCalls', 0)
    codec.set('Status', 'Conference Presentation Mode', 'Sending')
    await expect(session.reboot?.({ onlyIfIdle: true })).rejects.toThrow('in use')
    expect(codec.restarts).toBe(0)
  })

  test('a codec that allows all of them is not read again', async () => {
    const codec = await startCodec()
    const session = await openSession(codec, {}, often)
    const { length } = codec.requests
    codec.set('Status', 'Audio Volume', 61)
    await nextStatus(session)
    await session.power?.(false)
    await nextStatus(session)
    expect(codec.requests.slice(length).map(({ method }) => method)).toEqual(['xCommand/Standby/Activate'])
  })
})

describe('changes at the codec', () => {
  test.each([
    ['Standby', 'STANDBY'],
    ['Halfwake', 'STANDBY'],
    ['EnteringStandby', 'CHANGING'],
  ])('Standby State %s is reported as power %s, and Off as ON', async (state, power) => {
    const codec = await startCodec()
    const session = await openSession(codec)
    codec.set('Status', 'Standby State', state)
    expect(await nextStatus(session)).toEqual({ power })
    codec.set('Status', 'Standby State', 'Off')
    expect(await nextStatus(session)).toEqual({ power: 'ON' })
  })

  test('calls are reported, those of Teams by name, and count as use until they end', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    expect(await session.isInUse?.()).toBe(false)
    codec.set('Status', 'SystemUnit State NumberOfActiveCalls', 1)
    expect(await nextStatus(session)).toEqual({ inCallStatus: 'OTHER' })
    expect(await session.isInUse?.()).toBe(true)
    codec.set('Status', 'MicrosoftTeams Calling InCall', 'True')
    expect(await nextStatus(session)).toEqual({ inCallStatus: 'TEAMS' })
    codec.set('Status', 'MicrosoftTeams Calling InCall', 'False')
    codec.set('Status', 'SystemUnit State NumberOfActiveCalls', 0)
    expect(await nextStatus(session)).toEqual({ inCallStatus: 'NONE' })
    expect(await session.isInUse?.()).toBe(false)
  })

  test.each([
    ['SystemUnit State NumberOfInProgressCalls', 1],
    ['Conference Presentation Mode', 'Sending'],
    ['RoomAnalytics RoomInUse', 'True'],
    ['RoomAnalytics PeoplePresence', 'Yes'],
    ['RoomAnalytics PeopleCount Current', 2],
  ] as const)('%s = %s is use', async (path, value) => {
    const codec = await startCodec()
    codec.set('Status', path, value)
    const session = await openSession(codec)
    expect(await session.isInUse?.()).toBe(true)
  })

  test('a peripheral that loses its connection is not connected, and one that is gone is absent', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    const panel = async () => (await nextStatus(session)) as { peripherals: { name: string; connected: boolean }[] }
    codec.set('Status', 'Peripherals ConnectedDevice[1] Status', 'LostConnection')
    expect((await panel()).peripherals[0]).toMatchObject({ name: 'Cisco Room Navigator', connected: false })
    codec.remove('Status', 'Peripherals ConnectedDevice[1]')
    expect((await panel()).peripherals.map(({ name }) => name)).not.toContain('Cisco Room Navigator')
  })

  test('a diagnostics message is a fault, Error only a warning, and it is held while diagnostics run again', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    const say = (level: string) =>
      codec.setItem('Status', 'Diagnostics Message[4]', {
        Type: 'CameraStatus',
        Description: 'The camera is not connected.',
        Level: level,
      })
    const fault = { code: 'CameraStatus', level: 'WARNING', text: 'The camera is not connected.' }
    say('Error')
    expect(await nextStatus(session)).toEqual({ faults: [fault] })
    const reports: unknown[] = []
    session.on('status', (changes) => reports.push(changes))
    codec.remove('Status', 'Diagnostics Message[4]')
    say('Error')
    codec.set('Status', 'Audio Volume', 10)
    await nextStatus(session)
    codec.remove('Status', 'Diagnostics Message[4]')
    codec.set('Status', 'Audio Volume', 20)
    await nextStatus(session)
    expect(reports).toEqual([{ volume: 10 }, { volume: 20 }])
    expect(await nextStatus(session)).toEqual({ faults: [] })
    say('Critical')
    expect(await nextStatus(session)).toEqual({ faults: [{ ...fault, level: 'CRITICAL' }] })
  })

  test('heat, failed upgrades, a refused network and a wrong clock are faults too', async () => {
    const codec = await startCodec({ switches: { clockErrorMs: -4 * 365 * 86_400_000 } })
    codec.set('Status', 'SystemUnit Hardware Monitoring Temperature Status', 'High')
    codec.set('Status', 'SystemUnit Notifications Notification[1] Type', 'SoftwareUpgradeFailed')
    codec.set('Status', 'SystemUnit Notifications Notification[2] Type', 'RebootRequired')
    codec.set('Status', 'Network[1] IEEE8021X Status', 'AuthFailed')
    const session = await openSession(codec)
    expect(session.status().faults).toEqual([
      { code: 'Clock', level: 'WARNING', text: 'The clock of the codec is 1460 days behind.' },
      { code: 'IEEE8021X', level: 'WARNING', text: 'The codec could not sign in to the network (802.1X).' },
      { code: 'SoftwareUpgradeFailed', level: 'WARNING', text: 'The software upgrade failed.' },
      { code: 'Temperature', level: 'WARNING', text: 'The codec is too hot.' },
      { code: 'RebootRequired', level: 'INFO', text: 'A change takes effect after a restart.' },
    ])
    // The clock of the codec does not count for its start.
    expect(Math.abs(Date.parse(String(session.status().startedAt)) - (Date.now() - 3_600_000))).toBeLessThan(30_000)
  })

  test('a setting that a person changes there is announced, and a field that is gone is taken back', async () => {
    const codec = await startCodec()
    codec.set('Configuration', 'SystemUnit CustomDeviceId', 'A-17')
    codec.set('Configuration', 'SystemUnit Name', 'Fjord West')
    const session = await openSession(codec)
    expect(session.status()).toMatchObject({ name: 'Fjord West' })
    codec.set('Configuration', 'Time TimeFormat', '12H')
    await once(session, 'settings')
    expect(session.settings?.()).toMatchObject({ time24h: false })
    codec.set('Status', 'SystemUnit BroadcastName', '')
    codec.set('Configuration', 'SystemUnit Name', '')
    expect(await nextStatus(session)).toEqual({ name: null })
  })

  test('a codec that goes to standby and leaves at the same moment has reported its standby', async () => {
    const codec = await startCodec()
    const session = await openSession(codec, {}, makeRoomosDriver(roomosLimits))
    const events: unknown[] = []
    session.on('status', (changes) => events.push(changes))
    session.on('ended', () => events.push('ended'))
    const ended = once(session, 'ended')
    codec.set('Status', 'Standby State', 'Standby')
    // An answer follows the feedback on the same connection.
    await session.message?.('Good night', 1_000)
    codec.dropConnections()
    await ended
    expect(events).toEqual([{ power: 'STANDBY' }, 'ended'])
  })

  test('a board that goes to deep sleep sleeps', async () => {
    const codec = await startCodec({ product: 'Board Pro 55 G2' })
    const session = await openSession(codec)
    expect(session.status()).toMatchObject({ sleeps: false })
    codec.set('Configuration', 'Standby Level DeepSleep Mode', 'OutsideOfficeHours')
    expect(await nextStatus(session)).toEqual({ sleeps: true })
  })
})

test('a codec that loses its power with the display sleeps, and neither reports nor switches its power', async () => {
  const codec = await startCodec()
  const session = await openSession(codec, { options: { losesPowerWithDisplay: true } })
  const { sleeps, power, actions } = session.status()
  expect({ sleeps, power, actions }).toEqual({ sleeps: true, power: null, actions: ['reboot', 'message', 'config'] })
  expect(Value.Check(StatusReport, session.status())).toBe(true)
  expect(session.power).toBeUndefined()
  codec.set('Status', 'Standby State', 'Standby')
  codec.set('Status', 'Audio Volume', 9)
  expect(await nextStatus(session)).toEqual({ volume: 9 })
})

describe('samples', () => {
  test('have presence as 0 or 1 while people are counted in calls only, and air from the panel in the room', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    const timestamp = expect.any(Number)
    expect(await nextSample(session)).toEqual({ timestamp, people: 0, temp: 22, humidity: 40 })
  })

  test('have the count if it is on, and none for −1', async () => {
    const often = makeRoomosDriver({ ...quick, sampleMs: 5 })
    const codec = await startCodec({ product: 'Board Pro 55 G2' })
    codec.set('Configuration', 'RoomAnalytics PeopleCountOutOfCall', 'On')
    const session = await openSession(codec, {}, often)
    expect(session.status()).toMatchObject({ peopleIs: 'COUNT', sensors: ['humidity', 'people', 'temp'] })
    expect(await nextSample(session)).toEqual({ timestamp: expect.any(Number), temp: 21.5, humidity: 38 })
    codec.set('Status', 'RoomAnalytics PeopleCount Current', 7)
    await expect.poll(() => nextSample(session), { interval: 1 }).toMatchObject({ people: 7 })
  })

  test('leave out the air of a panel outside of the room, of a scheduler, and readings that are not numbers', async () => {
    const codec = await startCodec()
    codec.set('Status', 'Peripherals ConnectedDevice[1] Location', 'OutsideRoom')
    expect((await openSession(codec)).status()).toMatchObject({ sensors: ['people'] })
    codec.set('Status', 'Peripherals ConnectedDevice[1] Location', 'NotSet')
    expect((await openSession(codec)).status()).toMatchObject({ sensors: ['humidity', 'people', 'temp'] })
    codec.set('Status', 'Peripherals ConnectedDevice[1] Type', 'RoomScheduler')
    expect((await openSession(codec)).status()).toMatchObject({ sensors: ['people'] })
    codec.set('Status', 'Peripherals ConnectedDevice[1] Location', 'InsideRoom')
    codec.set('Status', 'Peripherals ConnectedDevice[1] RoomAnalytics AmbientTemperature', '')
    expect((await openSession(codec)).status()).toMatchObject({ sensors: ['humidity', 'people'] })
  })
})

describe('settings', () => {
  test('are read and written exactly, both ways', async () => {
    const codec = await startCodec({ product: 'Board Pro 55 G2' })
    const session = await openSession(codec)
    const wanted = {
      timezone: 'America/Chicago',
      ntpServer: 'time.example.com',
      language: 'zh-Hant',
      dateFormat: 'yyyy/MM/dd',
      time24h: false,
      screenStandby: 480 * 60_000,
      screenStayOn: true,
      autoWakeup: false,
      bluetooth: true,
      nightMode: true,
      muteInternalLoudspeaker: true,
      screenReader: true,
    }
    codec.set('Configuration', 'Bluetooth Allowed', 'False')
    expect(await session.apply?.(wanted)).toBeUndefined()
    expect(session.settings?.()).toEqual(wanted)
    const theirs = {
      'Time Zone': 'America/Chicago',
      'NetworkServices NTP Mode': 'Manual',
      'NetworkServices NTP Server[1] Address': 'time.example.com',
      'UserInterface Language': 'ChineseTraditional',
      'Time DateFormat': 'YY_MM_DD',
      'Time TimeFormat': '12H',
      'Standby Delay': 480,
      'Standby Control': 'Off',
      'Standby WakeupOnMotionDetection': 'Off',
      'Bluetooth Allowed': 'True',
      'Bluetooth Enabled': 'True',
      'UserInterface Theme Name': 'Night',
      'Audio Output InternalSpeaker Mode': 'Off',
      'UserInterface Accessibility ScreenReader Default Mode': 'On',
    }
    for (const [path, value] of Object.entries(theirs)) expect(codec.get('Configuration', path), path).toBe(value)
    // A session that opens later reads the same.
    expect((await openSession(codec)).settings?.()).toEqual(wanted)
  })

  test('HDMI-CEC is one value while all outputs are equal', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    expect(session.settings?.()).toMatchObject({ hdmiCecControl: true })
    expect(await session.apply?.({ hdmiCecControl: false })).toBeUndefined()
    expect(codec.get('Configuration', 'Video Output Connector[2] CEC Mode')).toBe('Off')
    codec.set('Configuration', 'Video Output Connector[1] CEC Mode', 'On')
    await once(session, 'settings')
    expect(session.settings?.()).not.toHaveProperty('hdmiCecControl')
  })

  test('a delay switches the standby on, unless the screen is to stay on', async () => {
    const codec = await startCodec()
    codec.set('Configuration', 'Standby Control', 'Off')
    const session = await openSession(codec)
    expect(await session.apply?.({ screenStandby: 60_000 })).toBeUndefined()
    expect(codec.get('Configuration', 'Standby Control')).toBe('On')
  })

  test('values without an exact counterpart are left out of what is reported', async () => {
    const codec = await startCodec({ product: 'Board Pro 55 G2' })
    codec.set('Configuration', 'UserInterface Theme Name', 'Auto')
    codec.set('Configuration', 'UserInterface Language', 'Finnish')
    codec.set('Configuration', 'Audio Output InternalSpeaker Mode', 'UltrasoundOnly')
    const session = await openSession(codec)
    expect(Object.keys(session.settings?.() ?? {})).toEqual([
      'autoWakeup',
      'bluetooth',
      'dateFormat',
      'screenStandby',
      'screenStayOn',
      'time24h',
      'timezone',
    ])
  })

  test('values without an exact counterpart are rejected with a sentence, and the others are set', async () => {
    const codec = await startCodec({ release: '10.19' })
    const session = await openSession(codec)
    const rejected = await session.apply?.({
      screenStandby: 90_000,
      language: 'fi',
      dateFormat: 'd. M. yyyy',
      timezone: 'America/Ciudad_Juarez',
      brightness: 0.5,
      bluetooth: true,
      time24h: false,
    })
    expect(rejected).toEqual({
      screenStandby: 'A codec goes to standby after 1 to 480 whole minutes (60000 to 28800000 ms).',
      language:
        'A codec has only these values: de, en-US, es, fr, it, ja, ko, nb, pl, pt, ru, sv, tr, zh-Hans, zh-Hant.',
      dateFormat: 'A codec has only these values: dd/MM/yyyy, MM/dd/yyyy, yyyy/MM/dd.',
      timezone: 'This codec does not accept America/Ciudad_Juarez for Time Zone.',
      brightness: 'This codec does not have this setting.',
      bluetooth: 'This codec does not have this setting.',
    })
    expect(codec.get('Configuration', 'Time TimeFormat')).toBe('12H')
    expect(codec.get('Configuration', 'Standby Delay')).toBe(10)
  })
})

describe('commands', () => {
  test('a message is shown in one line for its time; more than 255 characters are refused', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    await session.message?.('Fire drill\nat noon', 60_000)
    expect(codec.alert).toEqual({ text: 'Fire drill at noon', seconds: 60 })
    await expect(session.message?.('x'.repeat(256), 60_000)).rejects.toThrow(
      'A codec shows at most 255 characters, and this message has 256.',
    )
    expect(codec.alert).toEqual({ text: 'Fire drill at noon', seconds: 60 })
  })

  test('power goes to standby and back', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    await session.power?.(false)
    expect(await nextStatus(session)).toEqual({ power: 'STANDBY' })
    await session.power?.(true)
    expect(await nextStatus(session)).toEqual({ power: 'ON' })
  })

  test.each([false, true])(
    'a restart is accepted, and its uptime proves it (closes before it answers: %s)',
    async (closesBeforeBootAnswer) => {
      const codec = await startCodec({ switches: { closesBeforeBootAnswer } })
      const session = await openSession(codec)
      const ended = once(session, 'ended')
      await session.reboot?.({ onlyIfIdle: false })
      await ended
      const after = await openSession(codec)
      expect(Date.parse(String(after.status().startedAt))).toBeGreaterThan(Date.now() - 60_000)
      expect(codec.requests.filter(({ method }) => method === 'xCommand/SystemUnit/Boot')).toHaveLength(1)
    },
  )

  test('a restart that the codec accepts and does not carry out shows in its uptime', async () => {
    const codec = await startCodec({ switches: { ignoresBoot: true } })
    const session = await openSession(codec)
    await session.reboot?.({ onlyIfIdle: false })
    const { startedAt } = (await openSession(codec)).status()
    expect(Date.parse(String(startedAt))).toBeLessThan(Date.now() - 3_000_000)
  })

  test('the codec itself refuses a restart that is only for an idle one, even if the driver does not know of the call yet', async () => {
    const codec = await startCodec()
    const session = await openSession(codec)
    const restart = session.reboot?.({ onlyIfIdle: true })
    // The call starts while the question is on its way: the driver has seen none.
    codec.set('Status', 'SystemUnit State NumberOfActiveCalls', 1)
    await expect(restart).rejects.toThrow('in use')
    expect(codec.requests.at(-1)).toMatchObject({ params: { Action: 'Restart', Force: 'False' } })
    await expect(session.reboot?.({ onlyIfIdle: true })).rejects.toThrow('in use')
    expect(codec.restarts).toBe(0)
  })

  test('a product without Force restarts if the driver sees no use, and not otherwise', async () => {
    const codec = await startCodec({ release: '9.15', switches: { lacksForce: true } })
    codec.set('Status', 'RoomAnalytics PeoplePresence', 'Yes')
    const session = await openSession(codec)
    await expect(session.reboot?.({ onlyIfIdle: true })).rejects.toThrow('in use')
    expect(codec.restarts).toBe(0)
    codec.set('Status', 'RoomAnalytics PeoplePresence', 'No')
    await expect.poll(() => session.isInUse?.(), { interval: 1 }).toBe(false)
    const ended = once(session, 'ended')
    await session.reboot?.({ onlyIfIdle: true })
    const [failure] = (await ended) as [DriverFailure]
    expect({ state: failure.state, reason: failure.message }).toEqual({
      state: 'UNREACHABLE',
      reason: 'The codec is restarting.',
    })
    expect(codec.restarts).toBe(1)
  })
})

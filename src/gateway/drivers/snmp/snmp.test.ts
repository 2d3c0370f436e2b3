// The driver snmp against real agents: Debian's snmpd, and snmpsim with the walk of a switch.
import { once } from 'node:events'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openTestSession, sentStatus, whyNot } from '../../../../test/support/drivers/driver-session.ts'
import { type Snmpd, startSnmpd } from '../../../../test/support/drivers/snmpd.ts'
import { startSnmpsim } from '../../../../test/support/drivers/snmpsim.ts'
import type { DriverSession } from '../../driver.ts'
import { SnmpDriver, type SnmpLimits, usualSnmpLimits } from './snmp.ts'

/** Polls many times a second, with the usual patience for each answer: the machine can be busy. */
const quickPolls: SnmpLimits = {
  ...usualSnmpLimits,
  pollSeconds: { min: 0.01, max: 30, usual: 0.05 },
  retryMs: 50,
  // A request is lost when its agent is restarted.
  request: { timeoutMs: 500, retries: 9 },
  tablesMs: 200,
}
/** For agents that are silent on purpose. */
const impatient: SnmpLimits = {
  ...quickPolls,
  firstAnswerMs: 100,
  request: { timeoutMs: 100, retries: 1 },
  silenceMs: 1_000,
  graceMs: 500,
}
const driver = new SnmpDriver(quickPolls)
const usualDriver = new SnmpDriver()
/** For requests that an agent drops: it has answered the question for its engine before. */
const briefDriver = new SnmpDriver({ ...quickPolls, firstAnswerMs: 500 })

const community = 'meeting rooms read'
const [authPassword, privPassword] = ['authenticate-me', 'keep me private']
const shaNames = { sha: 'SHA', sha224: 'SHA-224', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' }

const upsMib = '1.3.6.1.2.1.33.1'
interface UpsState {
  readonly source?: number
  readonly battery?: number
  readonly charge?: number
  readonly hostTicks?: number
  readonly serial?: string
}
/** A UPS with a network card: UPS-MIB, ENTITY-MIB with a chassis, and users for each level of version 3. */
const configOf = ({
  source = 3,
  battery = 2,
  charge = 97,
  hostTicks = 360_000,
  serial = 'QS2042110733',
}: UpsState = {}) => `
rocommunity "${community}" 127.0.0.1
sysName ups-atlanta-2
sysLocation Atlanta, riser 2
sysServices 72
sysObjectID 1.3.6.1.4.1.534.1
override 1.3.6.1.2.1.25.1.1.0 integer ${hostTicks}
override ${upsMib}.1.1.0 octet_str "EATON Corporation"
override ${upsMib}.1.2.0 octet_str "9PX 3000i RT2U"
override ${upsMib}.1.3.0 octet_str "INV: 01.17.0015"
override ${upsMib}.2.1.0 integer ${battery}
override ${upsMib}.2.2.0 integer 0
override ${upsMib}.2.3.0 integer 24
override ${upsMib}.2.4.0 integer ${charge}
override ${upsMib}.2.7.0 integer 27
override ${upsMib}.4.1.0 integer ${source}
override ${upsMib}.4.4.1.5.1 integer 31
override ${upsMib}.6.1.0 uinteger ${source === 5 ? 2 : 0}
override ${upsMib}.6.2.1.2.1 object_id ${upsMib}.6.3.2
override ${upsMib}.6.2.1.2.2 object_id ${upsMib}.6.3.13
override 1.3.6.1.2.1.47.1.1.1.1.5.1 integer 3
override 1.3.6.1.2.1.47.1.1.1.1.11.1 octet_str "${serial}"
createUser open
rouser open noauth
createUser signed SHA "${authPassword}"
rouser signed auth
${Object.entries(shaNames)
  .map(([name, id]) => `createUser ${name} ${id} "${authPassword}" AES "${privPassword}"\nrouser ${name} priv`)
  .join('\n')}
`

let ups: Snmpd
beforeAll(async () => {
  ups = await startSnmpd(configOf())
})
afterAll(() => ups.stop())

const faultsOf = (session: DriverSession) =>
  (session.status().faults as { code: string; level: string }[]).map(({ code, level }) => `${code} ${level}`)

const byCommunity = () => ({ port: ups.port, secret: community })
const byUser = (username: string, secret: string, options: Record<string, string> = {}) => ({
  port: ups.port,
  username,
  secret,
  options: { version: '3', authProtocol: 'sha', privSecret: privPassword, ...options },
})

test('a UPS says what it is, how it is and since when, with no actions', async () => {
  const session = await openTestSession(driver, byCommunity())
  expect(session.identity).toEqual({
    manufacturer: 'Eaton',
    model: '9PX 3000i RT2U',
    serial: 'QS2042110733',
    firmwareVersion: 'INV: 01.17.0015',
  })
  const status = sentStatus(session)
  expect(status).toMatchObject({
    name: 'ups-atlanta-2',
    manufacturer: 'Eaton',
    kind: 'POWER',
    actions: [],
    localIpAddress: '127.0.0.1',
    faults: [],
    readings: [
      { name: 'batteryCharge', value: 97, unit: '%' },
      { name: 'batteryMinutes', value: 24, unit: 'min' },
      { name: 'batteryTemp', value: 27, unit: '°C' },
      { name: 'load', value: 31, unit: '%' },
    ],
    facts: [{ name: 'location', text: 'Atlanta, riser 2' }],
  })
  const upMs = Date.now() - Date.parse(status.startedAt as string)
  expect(upMs, 'an hour, of the device and not of its agent').toBeGreaterThan(3_590_000)
  expect(upMs).toBeLessThan(3_660_000)
  expect([session.reboot, session.power, session.message, session.apply]).toEqual(Array(4).fill(undefined))
})

test('a UPS whose mains fail reports faults while it runs on battery; a restart of its agent is not one of the device', async () => {
  const session = await openTestSession(driver, byCommunity())
  const { startedAt } = session.status()
  const codes = () => faultsOf(session)
  onTestFinished(() => ups.restart(configOf()))
  await ups.restart(configOf({ source: 5, battery: 3, charge: 12, hostTicks: 360_900 }))
  await expect
    .poll(codes)
    .toEqual(['ups.onBattery WARNING', 'ups.lowBattery CRITICAL', 'ups.charge CRITICAL', 'ups.charger CRITICAL'])
  expect(sentStatus(session)).toMatchObject({
    startedAt,
    readings: expect.arrayContaining([{ name: 'batteryCharge', value: 12, unit: '%' }]),
  })
  await ups.restart(configOf({ source: 3, charge: 45, hostTicks: 361_800 }))
  await expect.poll(codes).toEqual(['ups.charge WARNING'])
})

test('after a restart of the device its start is new; with another serial number it is CHANGED', async () => {
  onTestFinished(() => ups.restart(configOf()))
  const session = await openTestSession(driver, byCommunity())
  const { startedAt } = session.status()
  await ups.restart(configOf({ hostTicks: 700 }))
  await expect.poll(() => session.status().startedAt).not.toBe(startedAt)
  const ended = once(session, 'ended')
  await ups.restart(configOf({ hostTicks: 100, serial: 'QS9999999999' }))
  const [failure] = await ended
  expect(failure).toMatchObject({ state: 'CHANGED' })
  expect(failure.message).toContain('QS9999999999')
})

test('version 3 works without authentication, with it, and with encryption for SHA to SHA-512', async () => {
  const items = [
    byUser('open', '', { authProtocol: 'none', privProtocol: 'none' }),
    byUser('signed', authPassword, { authProtocol: 'sha', privProtocol: 'none' }),
    ...Object.keys(shaNames).map((name) => byUser(name, authPassword, { authProtocol: name, privProtocol: 'aes' })),
  ]
  for (const item of items) {
    const session = await openTestSession(driver, item)
    expect(session.identity.serial, item.username).toBe('QS2042110733')
    session.close()
  }
})

test('a session of version 3 goes on after a restart of the agent, whose clock and number of starts are then new', async () => {
  const session = await openTestSession(driver, byUser('sha256', authPassword, { authProtocol: 'sha256' }))
  onTestFinished(() => ups.restart(configOf()))
  await ups.restart(configOf({ source: 5, hostTicks: 360_900 }))
  await expect.poll(() => faultsOf(session)).toContain('ups.onBattery WARNING')
})

test.each([
  ['an unknown user', 'nobody-here', authPassword, {}, /REFUSED: .*user name/],
  ['a wrong password', 'sha', 'wrong-password', {}, /REFUSED: .*password or the authProtocol/],
  ['another authProtocol', 'sha', authPassword, { authProtocol: 'sha256' }, /REFUSED: .*authProtocol/],
  ['a wrong privacy password', 'sha', authPassword, { privSecret: 'wrong-password' }, /REFUSED: .*privacy password/],
  ['a level that the user does not have', 'signed', authPassword, {}, /REFUSED: .*combination/],
  ['a short password', 'sha', 'short', {}, /REFUSED: .*at least 8 characters/],
  ['DES', 'sha', authPassword, { privProtocol: 'des' }, /UNSUPPORTED: .*privProtocol cannot be "des". Use none, aes/],
  ['no user', '', authPassword, {}, /REFUSED: .*needs a user name/],
])('version 3 with %s is refused in words', async (_, username, secret, options, reason) => {
  expect(await whyNot(briefDriver, byUser(username, secret, options))).toMatch(reason)
})

test('a wrong community is as silent as a dead host, and the reason says so; a closed port is told apart', async () => {
  const silent = await whyNot(new SnmpDriver(impatient), { port: ups.port, secret: 'wrong' })
  expect(silent).toMatch(/^UNREACHABLE: .*stays as silent if the community is wrong/)
  expect(silent).not.toContain('wrong"')
  expect(await whyNot(driver, { port: 9, secret: community })).toMatch(/^UNREACHABLE: Nothing listens on UDP port 9/)
})

test('a session survives a short silence, and ends when answers stay away', async () => {
  onTestFinished(() => ups.thaw())
  const patient = await openTestSession(new SnmpDriver({ ...impatient, silenceMs: 60_000 }), byCommunity())
  const session = await openTestSession(new SnmpDriver(impatient), byCommunity())
  const ended = once(session, 'ended')
  ups.freeze()
  const [failure] = await ended
  expect(failure).toMatchObject({ state: 'UNREACHABLE' })
  ups.thaw()
  onTestFinished(() => ups.restart(configOf()))
  await ups.restart(configOf({ source: 5 }))
  await expect.poll(() => faultsOf(patient)).toContain('ups.onBattery WARNING')
})

/** A switch with 60 ports and virtual interfaces, a stack in ENTITY-MIB, Latin-1 in its name, and an agent without uptime of the host. */
function switchWalk(): string {
  const objects: [oid: string, type: string, value: string | number][] = [
    [
      '1.3.6.1.2.1.1.1.0',
      '4x',
      Buffer.from('Cisco IOS Software, C9200L Software, Version 17.9.4a, RELEASE\r\n(fc3)').toString('hex'),
    ],
    ['1.3.6.1.2.1.1.2.0', '6', '1.3.6.1.4.1.9.1.2694'],
    ['1.3.6.1.2.1.1.3.0', '67', 4_000],
    ['1.3.6.1.2.1.1.5.0', '4x', Buffer.from('Zürich-2', 'latin1').toString('hex')],
    ['1.3.6.1.2.1.1.7.0', '2', 6],
    ...Array.from({ length: 70 }, (_, n) => n + 1).flatMap((n): [string, string, string | number][] => {
      const port = n > 4 && n <= 64
      const entry = (column: string, type: string, value: string | number) =>
        [`1.3.6.1.2.1.${column}.${n}`, type, value] as [string, string, string | number]
      return [
        entry('2.2.1.2', '4', port ? `GigabitEthernet1/0/${n - 4}` : `Vlan${n}`),
        entry('2.2.1.3', '2', port ? 6 : 53),
        entry('2.2.1.4', '2', 1_500),
        entry('2.2.1.6', '4x', port ? `0050568a00${n.toString(16).padStart(2, '0')}` : ''),
        entry('2.2.1.8', '2', n % 2 === 0 ? 1 : 2),
        // A hole in the table: this port has no short name.
        ...(n === 7 ? [] : [entry('31.1.1.1.1', '4', port ? `Gi1/0/${n - 4}` : `Vl${n}`)]),
      ]
    }),
    ['1.3.6.1.2.1.47.1.1.1.1.5.1', '2', 11],
    ['1.3.6.1.2.1.47.1.1.1.1.5.1000', '2', 3],
    ['1.3.6.1.2.1.47.1.1.1.1.8.1000', '4', 'V02'],
    ['1.3.6.1.2.1.47.1.1.1.1.10.1000', '4', '17.09.04a'],
    ['1.3.6.1.2.1.47.1.1.1.1.11.1', '4', 'STACK'],
    ['1.3.6.1.2.1.47.1.1.1.1.11.1000', '4', 'JAE24520ABC'],
    ['1.3.6.1.2.1.47.1.1.1.1.13.1000', '4', 'C9200L-48P-4G'],
    ['1.3.6.1.6.3.10.2.1.2.0', '2', 7],
    ['1.3.6.1.6.3.10.2.1.3.0', '2', 51_840_000],
  ]
  const numbers = (oid: string) => oid.split('.').map(Number)
  const inOrder = objects.toSorted(([a], [b]) => {
    const [left, right] = [numbers(a), numbers(b)]
    const at = left.findIndex((number, i) => number !== right[i])
    return at < 0 ? left.length - right.length : (left[at] as number) - (right[at] ?? -1)
  })
  return `${inOrder.map((object) => object.join('|')).join('\n')}\n`
}
/** A PDU of a maker whose column of outlets is known, with a model in words only, and no serial number. */
const pduWalk = (serial: string) => `1.3.6.1.2.1.1.1.0|4|APC Web/SNMP Management Card, (MB:v4.1.0 PF:v6.5.0)
1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.318.1.3.4.6
1.3.6.1.2.1.47.1.1.1.1.5.1|2|3
1.3.6.1.2.1.47.1.1.1.1.11.1|4|${serial}
${[2, 2, 1, 2].map((state, n) => `1.3.6.1.4.1.318.1.1.26.9.2.3.1.5.${n + 1}|2|${state}`).join('\n')}
`

test('a switch has its first 32 ports, the serial of the chassis and a start before the wrap of sysUpTime; a PDU has its outlets', async () => {
  const placeholders = ['0000000000', 'To be filled by O.E.M.', 'N/A', 'Default string', '0123456789']
  const pdus = Object.fromEntries(placeholders.map((serial, n) => [`pdu${n}`, pduWalk(serial)]))
  const simulated = await startSnmpsim({ public: switchWalk(), ...pdus })
  onTestFinished(() => simulated.stop())
  const port = simulated.ports[0] as number
  const session = await openTestSession(usualDriver, { port })
  expect(session.identity).toEqual({
    manufacturer: 'Cisco',
    model: 'C9200L-48P-4G',
    serial: 'JAE24520ABC',
    firmwareVersion: '17.09.04a',
  })
  const status = sentStatus(session)
  expect(status).toMatchObject({ name: 'Zürich-2', kind: 'NETWORK', hardwareVersion: 'V02', actions: [] })
  const networks = status.networks as { display: string }[]
  expect(networks).toHaveLength(32)
  expect(networks.slice(0, 4)).toEqual([
    { type: 'NETWORK_TYPE_ETHERNET', display: 'Gi1/0/1', linkUp: false, mtu: 1_500, macAddress: 'AFBWigAF' },
    { type: 'NETWORK_TYPE_ETHERNET', display: 'Gi1/0/2', linkUp: true, mtu: 1_500, macAddress: 'AFBWigAG' },
    {
      type: 'NETWORK_TYPE_ETHERNET',
      display: 'GigabitEthernet1/0/3',
      linkUp: false,
      mtu: 1_500,
      macAddress: 'AFBWigAH',
    },
    { type: 'NETWORK_TYPE_ETHERNET', display: 'Gi1/0/4', linkUp: true, mtu: 1_500, macAddress: 'AFBWigAI' },
  ])
  const upDays = (Date.now() - Date.parse(status.startedAt as string)) / 86_400_000
  expect(Math.round(upDays), 'by its engine: sysUpTime says 40 seconds').toBe(600)

  for (const secret of Object.keys(pdus)) {
    const pdu = await openTestSession(usualDriver, { port, secret })
    expect(pdu.identity, 'a placeholder is not a serial number').toMatchObject({
      manufacturer: 'APC',
      serial: undefined,
    })
    expect(pdu.identity.model).toBe('APC Web/SNMP Management Card')
    expect(sentStatus(pdu)).toMatchObject({ kind: 'POWER', facts: [{ name: 'outlets', text: '1, 2, 4 on; 3 off' }] })
  }
})

test('version 3 works with AES of 256 bits in both variants, and a wrong variant is refused', async () => {
  const user = { authKey: authPassword, privKey: 'keep-me-private', authProtocol: 'SHA' } as const
  const simulated = await startSnmpsim({ public: switchWalk() }, [
    { ...user, name: 'blumenthal', privProtocol: 'AES256BLMT' },
    { ...user, name: 'reeder', privProtocol: 'AES256' },
  ])
  onTestFinished(() => simulated.stop())
  const item = (at: number, username: string, privProtocol: string) => ({
    ...byUser(username, authPassword, { privProtocol, privSecret: 'keep-me-private' }),
    port: simulated.ports[at] as number,
  })
  for (const at of [item(0, 'blumenthal', 'aes256b'), item(1, 'reeder', 'aes256r')]) {
    expect((await openTestSession(usualDriver, at)).identity.serial, at.username).toBe('JAE24520ABC')
  }
  expect(await whyNot(briefDriver, item(1, 'reeder', 'aes256b'))).toMatch(/^REFUSED: .*privProtocol/)
})

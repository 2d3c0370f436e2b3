// The status of a computer, made of recorded lists of the kernel and of what systeminformation said on real machines.
import type { NetworkInterfaceInfo } from 'node:os'
import Schema from 'typebox/schema'
import { expect, test } from 'vitest'
import { addConnector, addSoundCards, addWebcam, RecordedRoot } from '../../test/support/computer/recorded-root.ts'
import { StatusReport } from '../contract/device/protocol.ts'
import { computerSerial } from './serial.ts'
import { changesOf, describeLoad, describeMachine, describeSystem, fixedStatus, modelOfComputer } from './status.ts'
import type { SystemFacts } from './system/calls.ts'

/** Only what the status uses. */
const facts = {
  system: { manufacturer: 'Dell Inc.', model: 'OptiPlex 7010', version: 'Default string', serial: '7XK2Q93' },
  osInfo: { distro: 'Debian GNU/Linux', release: '12', kernel: '6.1.0-18-amd64', arch: 'x64' },
  bios: { vendor: 'Dell Inc.', version: '1.14.0', releaseDate: '2024-03-08' },
  cpu: { manufacturer: 'Intel', brand: 'Core i5-13500T', cores: 20 },
  mem: { total: 16 * 2 ** 30, available: 12 * 2 ** 30 },
  cpuTemperature: { main: 47.4 },
  fsSize: [
    { fs: '/dev/nvme0n1p2', mount: '/', size: 250_000_000_000, available: 200_000_000_000 },
    { fs: '/dev/nvme0n1p1', mount: '/boot/efi', size: 500_000_000, available: 400_000_000 },
    { fs: '/dev/sdb1', mount: '/media/stick', size: 32_000_000_000, available: 1_000_000_000 },
    { fs: 'tmpfs', mount: '/run', size: 1, available: 1 },
  ],
} as unknown as SystemFacts

const address = (address: string, cidr: string) => ({ address, cidr }) as NetworkInterfaceInfo

function newMachine() {
  const root = new RecordedRoot()
  root.write('proc', { stat: 'cpu 1 2 3\nbtime 1794900000\nprocesses 4' })
  root.write('etc', { 'resolv.conf': '# comment\nnameserver 10.20.0.1\nnameserver 10.20.0.2' })
  for (const [name, state, type] of [
    ['eth0', 'up', ''],
    ['wlan0', 'down', 'DEVTYPE=wlan'],
  ] as const) {
    const device = `sys/devices/pci0000:00/${name}`
    root.write(`${device}/net/${name}`, { mtu: '1500', address: '00:01:02:03:04:05', operstate: state, uevent: type })
    root.link(`${device}/net/${name}/device`, device)
    root.link(`sys/class/net/${name}`, `${device}/net/${name}`)
  }
  root.write('sys/devices/virtual/net/docker0', { operstate: 'up', address: '02:42:00:00:00:01', mtu: '1500' })
  root.link('sys/class/net/docker0', 'sys/devices/virtual/net/docker0')
  root.write('proc/net', {
    route:
      'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\neth0\t00000000\t0100140A\t0003\t0\t0\t100\t00000000\neth0\t0000140A\t00000000\t0001\t0\t0\t100\t0000FFFF',
    wireless:
      'Inter-| sta-|   Quality        |   Discarded packets\n face | tus | link level noise |  nwid  crypt\n wlan0: 0000   54.  -56.  -256        0      0',
  })
  return {
    root,
    machine: {
      root: root.path,
      name: 'room-4',
      timezone: 'Europe/Oslo',
      addresses: () => ({
        lo: [address('127.0.0.1', '127.0.0.1/8')],
        eth0: [address('10.20.0.42', '10.20.0.42/16'), address('fe80::1:2', 'fe80::1:2/64')],
        docker0: [address('172.17.0.1', '172.17.0.1/16')],
      }),
    },
  }
}

test('a computer says what it is', () => {
  expect(modelOfComputer(facts)).toBe('OptiPlex 7010')
  expect(describeSystem(facts)).toEqual({
    manufacturer: 'Dell Inc.',
    hardwareVersion: null,
    firmwareVersion: 'Debian GNU/Linux 12',
    facts: [
      { name: 'kernel', text: '6.1.0-18-amd64' },
      { name: 'architecture', text: 'x64' },
      { name: 'processor', text: 'Intel Core i5-13500T' },
      { name: 'cores', text: '20' },
      { name: 'bios', text: 'Dell Inc. 1.14.0 2024-03-08' },
    ],
  })
})

test('a computer of which nothing could be read is a Computer, and takes nothing back that it said before', () => {
  expect(modelOfComputer({})).toBe('Computer')
  expect(describeSystem({})).toEqual({ facts: [] })
})

test('the networks are real ones and those with the default route, with the addresses as bytes', async () => {
  const { machine } = newMachine()
  const { networks, localIpAddress, startedAt, name } = await describeMachine(machine)
  expect({ localIpAddress, startedAt, name }).toEqual({
    localIpAddress: '10.20.0.42',
    startedAt: '2026-11-17T07:20:00.000Z',
    name: 'room-4',
  })
  expect(networks).toEqual([
    {
      type: 'NETWORK_TYPE_ETHERNET',
      display: 'eth0',
      linkUp: true,
      mtu: 1500,
      macAddress: 'AAECAwQF',
      dnsServers: ['10.20.0.1', '10.20.0.2'],
      addresses: [
        { address: { ipv4: 'ChQAKg==' }, prefix: 16 },
        { address: { ipv6: '/oAAAAAAAAAAAAAAAAEAAg==' }, prefix: 64 },
      ],
      gateway: [{ ipv4: 'ChQAAQ==' }],
    },
    {
      type: 'NETWORK_TYPE_WIFI',
      display: 'wlan0',
      linkUp: false,
      mtu: 1500,
      macAddress: 'AAECAwQF',
      signalDbm: -56,
      addresses: [],
      gateway: [],
    },
  ])
})

test('storage is that of the system, of other disks inside, and of disks that can be pulled out', async () => {
  const { root } = newMachine()
  root.write('sys/devices/nvme/nvme0n1', { removable: '0' })
  root.link('sys/class/block/nvme0n1p1', 'sys/devices/nvme/nvme0n1/nvme0n1p1')
  root.write('sys/devices/usb2/2-1/sdb', { removable: '0' })
  root.link('sys/class/block/sdb1', 'sys/devices/usb2/2-1/sdb/sdb1')
  expect(await describeLoad(root.path, facts)).toEqual({
    readings: [
      { name: 'memoryUsed', value: 25, unit: '%' },
      { name: 'memoryTotal', value: 16, unit: 'GiB' },
      { name: 'cpuTemperature', value: 47, unit: '°C' },
    ],
    totalSystemStorage: '250000000000',
    freeSystemStorage: '200000000000',
    totalInternalStorage: '500000000',
    freeInternalStorage: '400000000',
    totalExternalStorage: '32000000000',
    freeExternalStorage: '1000000000',
  })
  expect(await describeLoad(root.path, {}), 'calls that hung take nothing back').toEqual({})
})

test('the whole status is one that the service accepts', async () => {
  const { root, machine } = newMachine()
  addWebcam(root)
  addSoundCards(root)
  addConnector(root, 'card0-HDMI-A-1', 'connected')
  const status = {
    ...fixedStatus(['logs']),
    ...describeSystem(facts),
    ...(await describeMachine(machine)),
    ...(await describeLoad(root.path, facts)),
  }
  expect((status.peripherals as unknown[]).length).toBe(7)
  expect(Schema.Errors(StatusReport, status)).toEqual([true, []])
})

test('only noticeable changes are reported', () => {
  const reading = (value: number) => ({ readings: [{ name: 'memoryUsed', value, unit: '%' }] })
  const before = {
    ...reading(40),
    totalSystemStorage: '1000',
    freeSystemStorage: '500',
    startedAt: '2026-11-17T08:00:00.000Z',
    peripherals: [],
  }
  expect(changesOf(before, { ...before, ...reading(41), freeSystemStorage: '495' })).toEqual({})
  expect(changesOf(before, { ...before, startedAt: '2026-11-17T08:00:59.000Z' })).toEqual({})
  const changes = { ...reading(42), freeSystemStorage: '490', startedAt: '2026-11-18T08:00:00.000Z', peripherals: [1] }
  expect(changesOf(before, { ...before, ...changes })).toEqual(changes)
  expect(changesOf({}, reading(40))).toEqual(reading(40))
  expect(changesOf(reading(40), { readings: [] }), 'a sensor that is gone').toEqual({ readings: [] })
})

test('the serial number is that of the maker, with the maker', async () => {
  const { root } = newMachine()
  expect(await computerSerial(root.path, { manufacturer: 'Dell Inc.', serial: '7XK2Q93' }, 'https://a.example')).toBe(
    'Dell Inc. 7XK2Q93',
  )
  expect(await computerSerial(root.path, { manufacturer: '', serial: '7XK2Q93' }, 'https://a.example')).toBe('7XK2Q93')
})

test.each([
  '-',
  '',
  'Default string',
  'To be filled by O.E.M.',
  '00000000',
  '0123456789',
  'System Serial Number',
  'None',
  'A1',
])(
  'a serial number %j does not count: one is made of the machine ID and the address of the service',
  async (serial) => {
    const { root } = newMachine()
    root.write('etc', { 'machine-id': 'bb1f9f7d44354cd69a3fbe1fa8c4c2f7' })
    const at = (url: string) => computerSerial(root.path, { manufacturer: 'Dell Inc.', serial }, url)
    const made = await at('https://a.example')
    expect(made).toMatch(/^RK-[\da-f]{24}$/)
    expect(await at('https://a.example/')).toBe(made)
    expect(await at('https://b.example')).not.toBe(made)
    expect(made).not.toContain('bb1f9f7d')
  },
)

test('without a machine ID the serial number is a new one', async () => {
  const { root } = newMachine()
  const [one, two] = [
    await computerSerial(root.path, {}, 'https://a.example'),
    await computerSerial(root.path, {}, 'https://a.example'),
  ]
  expect(one).toMatch(/^RK-[\da-f-]{36}$/)
  expect(two).not.toBe(one)
})

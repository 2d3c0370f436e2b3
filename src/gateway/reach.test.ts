// The addresses that a gateway reaches, in every form in which an address can be written.
import { expect, test } from 'vitest'
import { parseHost, parseRange, privateNetworks, Reach } from './reach.ts'

const reachOf = (...ranges: string[]) => new Reach(ranges.map(parseRange))

test('only the named networks are reached', () => {
  const reach = reachOf('10.20.0.0/16', 'fd12:3456::/32', '192.0.2.7')
  for (const address of ['10.20.0.1', '10.20.255.254', 'fd12:3456::9', '192.0.2.7'])
    expect(reach.allows(address), address).toBe(true)
  for (const address of ['10.21.0.1', '8.8.8.8', 'fd12:3457::9', '2001:db8::1', '192.0.2.8', 'printer', ''])
    expect(reach.allows(address), address).toBe(false)
})

test('an IPv4 address inside an IPv6 address is judged as the IPv4 address', () => {
  const reach = reachOf('10.20.0.0/16', '::/0')
  for (const address of ['::ffff:10.20.0.1', '::ffff:a14:1', '64:ff9b::10.20.0.1', '2002:a14:1::1'])
    expect(reach.allows(address), address).toBe(true)
  const others = [
    '::ffff:127.0.0.1',
    '::FFFF:7f00:1',
    '0:0:0:0:0:ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:10.21.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::10.20.0.1',
    '2002:7f00:1::1',
    '::10.20.0.1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  ]
  for (const address of others) expect(reach.allows(address), address).toBe(false)
})

test('loopback is reached only if an option names it; a range that contains it does not', () => {
  const everything = reachOf('0.0.0.0/0', '::/0')
  const loopback = ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']
  for (const address of loopback) expect(everything.allows(address), address).toBe(false)
  const named = reachOf('127.0.0.0/8', '::1')
  for (const address of loopback) expect(named.allows(address), address).toBe(true)
  expect(reachOf('127.0.0.1').allows('127.0.0.2')).toBe(false)
})

test('link-local, multicast, reserved and metadata addresses are never reached, and no option opens them', () => {
  const everything = reachOf('0.0.0.0/0', '::/0', 'fd00::/8', '100.64.0.0/10')
  const closed = [
    '169.254.169.254',
    '169.254.1.1',
    '224.0.0.251',
    '255.255.255.255',
    '0.0.0.0',
    '100.100.100.200',
    '::',
  ]
  for (const address of [...closed, 'fe80::1', 'fe80::1%eth0', 'ff02::fb', 'fd00:ec2::254'])
    expect(everything.allows(address), address).toBe(false)
  expect(everything.allows('100.64.0.9')).toBe(true)
  for (const range of ['169.254.0.0/16', '169.254.169.254', 'fe80::/64', '239.1.0.0/16', 'fd00:ec2::254'])
    expect(() => parseRange(range), range).toThrow('never reached')
})

test('a range is written without host bits, and a text that is no range is refused with a sentence', () => {
  expect(parseRange('10.20.30.40/16')).toBe('10.20.0.0/16')
  expect(parseRange(' 192.168.7.200/25')).toBe('192.168.7.128/25')
  expect(parseRange('10.1.2.3')).toBe('10.1.2.3/32')
  expect(parseRange('fd12:3456:789a:1::5/48')).toBe('fd12:3456:789a::/48')
  for (const text of ['10.0.0.0/33', 'fd00::/129', 'office', '10.0.0/8', 'fe80::1%eth0/64', ''])
    expect(() => parseRange(text), text).toThrow('--reach must be an address or a range')
})

test('without an option the private networks of the interfaces are reached, and nothing else', () => {
  const of = (cidr: string, internal = false) => ({ address: cidr.split('/')[0] as string, cidr, internal })
  const interfaces = {
    lo: [of('127.0.0.1/8', true), of('::1/128', true)],
    eth0: [of('10.20.4.17/16'), of('fd12:3456::17/64'), of('fe80::17/64'), of('2001:db8::17/64')],
    eth1: [of('203.0.113.5/24')],
    wlan0: [of('192.168.1.20/24')],
  }
  expect(privateNetworks(interfaces)).toEqual(['10.20.0.0/16', 'fd12:3456::/64', '192.168.1.0/24'])
  const tooLarge = { eth0: [of('192.168.1.5/8'), of('10.1.2.3/4'), of('172.16.9.9/11'), of('fd12:3456::17/3')] }
  expect(privateNetworks(tooLarge)).toEqual(['192.168.0.0/16', '10.0.0.0/8', '172.16.0.0/12', 'fc00::/7'])
  for (const range of privateNetworks()) expect(parseRange(range)).toBe(range)
})

test('every named network is reached, even if a status report cannot name all of them', () => {
  const reach = new Reach(Array.from({ length: 100 }, (_, i) => parseRange(`10.${i}.0.0/24`)))
  for (const address of ['10.0.0.1', '10.31.0.1', '10.32.0.1', '10.99.0.1'])
    expect(reach.allows(address), address).toBe(true)
  expect(reach.allows('10.100.0.1')).toBe(false)
})

test('a gateway without a network reaches nothing, and says so', () => {
  expect(new Reach([]).allows('10.0.0.1')).toBe(false)
  expect(String(new Reach([]))).toBe('no network')
})

test('a name of --reach-host, and those of Neat Pulse, lead to public addresses only, and other names to --reach only', () => {
  const reach = new Reach(['10.20.0.0/16'], ['broker.example.org'])
  const named = ['broker.example.org', 'Broker.Example.org.', 'api.pulse.neat.no', 'pulse.neat.no']
  const open = ['8.8.8.8', '2a00:1450:4001::5', '64:ff9b::8.8.8.8', '10.20.4.17']
  const never = [
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.21.0.1',
    '172.16.0.1',
    '192.168.1.1',
    'fd12::1',
    '64:ff9b::10.21.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '168.63.129.16',
    '64:ff9b::168.63.129.16',
    '100.100.100.200',
    '224.0.0.251',
    'fe80::1',
    'ff02::fb',
    '0.0.0.0',
    '::',
    'broker.example.org',
    '',
  ]
  for (const name of named) {
    for (const address of open) expect(reach.allowsNamed(name, address), `${name} ${address}`).toBe(true)
    for (const address of never) expect(reach.allowsNamed(name, address), `${name} ${address}`).toBe(false)
  }
  for (const name of ['example.org', 'a.broker.example.org', 'broker.example.org.evil.example', '8.8.8.8', '']) {
    expect(reach.allowsNamed(name, '8.8.8.8'), name).toBe(false)
    expect(reach.allowsNamed(name, '10.20.4.17'), name).toBe(true)
  }
  // Items have no such names.
  expect(reach.allows('8.8.8.8')).toBe(false)
})

test('--reach-host takes the name of a host, and refuses addresses and other texts with a sentence', () => {
  expect(parseHost(' Broker.Example.org. ')).toBe('broker.example.org')
  expect(parseHost('broker')).toBe('broker')
  const wrong = [
    '8.8.8.8',
    '0x7f.1',
    '2130706433',
    '[::1]',
    'https://a.example',
    'a.example:8883',
    'a b',
    '*.example',
    '',
  ]
  for (const text of [...wrong, `${'a'.repeat(64)}.example`])
    expect(() => parseHost(text), text).toThrow('--reach-host must be the name of a host')
})

// The items of --outbound-allow, and which addresses they open.
import { expect, test } from 'vitest'
import { AllowList, parseAllowItem } from './allow-list.ts'

test.each([
  ['idp.example.lan', { name: 'idp.example.lan' }],
  ['IDP.Example.LAN.', { name: 'idp.example.lan' }],
  ['localhost:8080', { name: 'localhost', port: 8080 }],
  ['10.0.0.0/8', { range: '10.0.0.0/8' }],
  ['10.1.2.3:8443', { range: '10.1.2.3', port: 8443 }],
  ['10.0.0.0/8:443', { range: '10.0.0.0/8', port: 443 }],
  ['fd00::/8', { range: 'fd00::/8' }],
  ['[fd00::1]', { range: 'fd00::1' }],
  ['[fd00::1]:8443', { range: 'fd00::1', port: 8443 }],
  ['[fd00::/8]:443', { range: 'fd00::/8', port: 443 }],
])('%s is read', (text, item) => {
  expect(parseAllowItem(text)).toEqual(item)
})

test.each([
  ...['', ':443', '10.0.0.0/33', 'fd00::/129', '10.1.2.3:0', '10.1.2.3:65536', '10.1.2.3:', 'idp.example.lan/8'],
  ...[
    'https://idp.example.lan',
    'idp.example.lan/path',
    'user@idp',
    '*.example.lan',
    '0x7f.1',
    '2130706433',
    'fe80::1%eth0',
  ],
  ...['[::1', 'a b', 'fd00::/8:443'],
])('%s is refused', (text) => {
  expect(parseAllowItem(text)).toBeUndefined()
})

const https = (hostname: string, port = 443) => ({ hostname, port })

test('without an item only the public internet is allowed', () => {
  const list = new AllowList({ allow: [], allowLoopback: false })
  expect(list.allows(https('idp.example.org'), '93.184.216.34')).toBe(true)
  expect(list.isNamed(https('idp.example.org'), '93.184.216.34')).toBe(false)
  for (const address of ['127.0.0.1', '::1', '10.0.0.1', '169.254.169.254']) {
    expect(list.allows(https('idp.example.org'), address), address).toBe(false)
  }
})

test('a name allows whatever it resolves to, and no other name that resolves to it', () => {
  const list = new AllowList({ allow: ['idp.example.lan:8443'], allowLoopback: false })
  expect(list.allows(https('idp.example.lan', 8443), '10.0.0.1')).toBe(true)
  expect(list.allows(https('idp.example.lan.', 8443), 'fd00::1')).toBe(true)
  expect(list.allows(https('idp.example.lan', 443), '10.0.0.1')).toBe(false)
  expect(list.allows(https('evil.idp.example.lan', 8443), '10.0.0.1')).toBe(false)
  expect(list.allows(https('idp.example.lan.evil.org', 8443), '10.0.0.1')).toBe(false)
})

test('a range allows its addresses under every name, and as IPv4 inside IPv6, at its port', () => {
  const list = new AllowList({ allow: ['10.0.0.0/8', '[fd00::/8]:443'], allowLoopback: false })
  expect(list.allows(https('idp.example.org', 8443), '10.200.0.1')).toBe(true)
  expect(list.allows(https('idp.example.org'), '::ffff:10.0.0.1')).toBe(true)
  expect(list.allows(https('idp.example.org'), 'fd00::7')).toBe(true)
  expect(list.allows(https('idp.example.org', 8443), 'fd00::7')).toBe(false)
  expect(list.allows(https('idp.example.org'), '11.0.0.1') && list.isNamed(https('x'), '11.0.0.1')).toBe(false)
  expect(list.allows(https('idp.example.org'), '192.168.0.1')).toBe(false)
})

test('loopback is allowed without an item by the rule for servers that listen there only, and nothing else is', () => {
  const list = new AllowList({ allow: [], allowLoopback: true })
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
    expect(list.isNamed(https('localhost', 1234), address), address).toBe(true)
  }
  for (const address of ['0.0.0.0', '::', '::127.0.0.1', '10.0.0.1', '64:ff9b::127.0.0.1', '2002:7f00:1::']) {
    expect(list.allows(https('localhost', 1234), address), address).toBe(false)
  }
})

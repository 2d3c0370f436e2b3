// Addresses that requests of the server must not reach are refused in every spelling that a URL can have.
import { isIP } from 'node:net'
import { expect, test } from 'vitest'
import { isGloballyReachable } from './global-addresses.ts'

const hostile: Record<string, readonly string[]> = {
  'this network': ['0.0.0.0', '0.1.2.3', '::'],
  loopback: ['127.0.0.1', '127.0.0.2', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'],
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  'link-local and metadata': [
    '169.254.0.1',
    '169.254.169.254',
    'fe80::1',
    'fe80::a9fe:a9fe',
    'febf::1',
    'fe80::1%eth0',
  ],
  'metadata over IPv6': ['fd00:ec2::254', '::ffff:169.254.169.254', '64:ff9b::169.254.169.254', '2002:a9fe:a9fe::1'],
  'unique local': ['fc00::1', 'fd12:3456:789a::1', 'fdff:ffff::1'],
  'site-local': ['fec0::1'],
  documentation: ['192.0.2.1', '198.51.100.7', '203.0.113.255', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  'protocol assignments': ['192.0.0.1', '192.0.0.170', '192.88.99.1', '2001:10::1', '2001:20::1', '100::1', '5f00::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  reserved: ['240.0.0.1', '255.255.255.255', '4000::1', 'e000::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '0:0:0:0:0:ffff:c0a8:0001', '::FFFF:0.0.0.0'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::10.0.0.1', '::169.254.169.254', '::8.8.8.8'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::8.8.8.8', '64:ff9b:1:abcd::1'],
  '6to4': ['2002:7f00:1::', '2002:7f00:0001::1', '2002:0a00:0001::1', '2002:c0a8:101::1', '2002:e000:1::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'no address': ['', 'localhost', '127.1', '1.2.3.4.5', '[::1]', '::1%lo', '8.8.8.8%eth0', '2606:4700::1%eth0'],
}

test.each(Object.entries(hostile))('%s is not globally reachable', (_, addresses) => {
  expect(addresses.filter(isGloballyReachable)).toEqual([])
})

test('addresses of the public internet are globally reachable, also inside IPv6 addresses that lead to them', () => {
  const open = [
    ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
    ...['128.0.0.1', '169.253.255.255', '172.15.255.255', '172.32.0.0', '192.167.255.255', '223.255.255.255'],
    ...['2606:4700:4700::1111', '2a00:1450:4001::1', '2001:200::1', '2003::1', '3ffe::1'],
    ...['::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:808:808::1'],
  ]
  expect(open.filter((address) => !isGloballyReachable(address))).toEqual([])
})

const spellings = [
  ...[
    '127.1',
    '127.0.1',
    '127.0.0.1.',
    '2130706433',
    '017700000001',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '0x7f.1',
  ],
  ...[
    '%31%32%37.0.0.1',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '0',
    '0x0',
    '0.0.0.0.',
    '00.0.0.0',
    '3232235521',
    '0xc0.0xa8.0.1',
  ],
  ...[
    '0300.0250.0.1',
    '192.168.1',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '10.1',
    '0xa.1',
  ],
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::FFFF:A00:1]', '[::127.0.0.1]'],
  ...[
    '[64:ff9b::7f00:1]',
    '[64:FF9B::169.254.169.254]',
    '[2002:7f00:1::]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[ff02::1]',
  ],
]

test.each(spellings)('the host %s of a URL becomes an address that is not globally reachable', (host) => {
  const address = new URL(`https://${host}/`).hostname.replace(/^\[|\]$/g, '')
  expect(isIP(address)).not.toBe(0)
  expect(isGloballyReachable(address)).toBe(false)
})

test('the lists above have more than 60 hostile addresses, and URLs with a zone have no address', () => {
  expect(Object.values(hostile).flat().length).toBeGreaterThan(60)
  for (const host of ['[fe80::1%25eth0]', '[fe80::1%eth0]', '[::1].', '1.2.3.256', '127.0.0.1:80%00']) {
    expect(URL.canParse(`https://${host}/`), host).toBe(false)
  }
})

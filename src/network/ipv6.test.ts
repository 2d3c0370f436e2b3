// IPv6 addresses as bytes, in all forms in which people and devices write them.
import { expect, test } from 'vitest'
import { ipv6Bytes } from './ipv6.ts'

test.each([
  ['2001:db8::1', '20010db8000000000000000000000001'],
  ['::', '00000000000000000000000000000000'],
  ['fe80::1%eth0', 'fe800000000000000000000000000001'],
  ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ['::ffff:10.20.4.17', '00000000000000000000ffff0a140411'],
  ['64:ff9b::192.168.1.2', '0064ff9b0000000000000000c0a80102'],
])('%s is written as its sixteen bytes', (address, hex) => {
  expect(ipv6Bytes(address).toString('hex')).toBe(hex)
})

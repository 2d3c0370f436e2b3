// Tests how network addresses are decoded from base64.
import { expect, test } from 'vitest'
import { addressTexts, macText } from './network-address.ts'

const base64 = (hex: string) =>
  btoa(String.fromCharCode(...(hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16))))

test('an IPv4 address is four numbers [contract 5.1.networks]', () => {
  expect(addressTexts({ ipv4: base64('c0a80114') })).toEqual(['192.168.1.20'])
})

test('an IPv6 address is as short as RFC 5952 allows', () => {
  const written: Record<string, string> = {
    fe800000000000000000000000000001: 'fe80::1',
    '20010db8000000010001000100010001': '2001:db8:0:1:1:1:1:1',
    '20010db8000000000001000000000001': '2001:db8::1:0:0:1',
    '00000000000000000000000000000001': '::1',
    '20010db8000000000000000000000000': '2001:db8::',
    '00000000000000000000000000000000': '::',
  }
  for (const [hex, text] of Object.entries(written)) expect(addressTexts({ ipv6: base64(hex) })).toEqual([text])
})

test('an interface can have both addresses, or none', () => {
  const both = { ipv4: base64('0a000001'), ipv6: base64('fe80000000000000000000000000abcd') }
  expect(addressTexts(both)).toEqual(['10.0.0.1', 'fe80::abcd'])
  expect(addressTexts({})).toEqual([])
  expect(addressTexts({ ipv4: '' })).toEqual([])
})

test('a MAC address is six pairs', () => {
  expect(macText(base64('001122aabb0c'))).toBe('00:11:22:aa:bb:0c')
})

test('a text that is not such an address is shown unchanged', () => {
  expect(macText('00:11:22:aa:bb:cc')).toBe('00:11:22:aa:bb:cc')
  expect(addressTexts({ ipv4: '192.168.1.20' })).toEqual(['192.168.1.20'])
  expect(addressTexts({ ipv4: base64('c0a801') })).toEqual([base64('c0a801')])
})

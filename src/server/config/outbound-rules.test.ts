// Identity providers on loopback need no item of the list while only this machine reaches the server.
import { expect, test } from 'vitest'
import { parseList, parseOutboundAllow } from './option-values.ts'
import { outboundRulesOf } from './outbound-rules.ts'

const onLoopback = {
  host: '127.0.0.1',
  healthHost: '127.0.0.1',
  healthPort: 'off',
  mqttHost: '127.0.0.1',
  mqttPort: 1883,
  mqttTlsPort: 'off',
} as const

test.each([
  ['all ports on loopback', {}, true],
  ['names of loopback', { host: 'localhost', mqttHost: '::1' }, true],
  ['the API on all interfaces', { host: '0.0.0.0' }, false],
  ['the API on all interfaces, over IPv6', { host: '::' }, false],
  ['the API on one address of the network', { host: '10.0.0.5' }, false],
  ['devices on all interfaces', { mqttHost: '0.0.0.0' }, false],
  ['devices over TLS on all interfaces', { mqttHost: '0.0.0.0', mqttPort: 'off', mqttTlsPort: 8883 }, false],
  ['closed ports for devices', { mqttHost: '0.0.0.0', mqttPort: 'off' }, true],
  ['the health port on all interfaces', { healthHost: '0.0.0.0', healthPort: 9090 }, false],
  ['a closed health port', { healthHost: '0.0.0.0' }, true],
  ['a public address on this machine', { publicUrl: 'http://localhost:8080' }, true],
  ['a public address elsewhere', { publicUrl: 'https://rooms.example.org' }, false],
  ['a proxy on this machine', { trustProxy: ['127.0.0.1'] }, false],
] as const)('%s', (_, options, allowLoopback) => {
  expect(outboundRulesOf({ ...onLoopback, ...options })).toEqual({ allow: [], allowLoopback })
})

test('--outbound-allow is a list, by commas or repeated, and a wrong item is named', () => {
  const parse = parseList(parseOutboundAllow)
  const outboundAllow = parse('idp.example.lan:8443, 10.0.0.0/8', parse('[fd00::1]:443'))
  expect(outboundRulesOf({ ...onLoopback, outboundAllow }).allow).toEqual([
    '[fd00::1]:443',
    'idp.example.lan:8443',
    '10.0.0.0/8',
  ])
  expect(() => parse('10.0.0.0/8,https://idp')).toThrow(/--outbound-allow must be .*, not "https:\/\/idp"\./)
})

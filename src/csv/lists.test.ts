// Endpoints by serial number and gateway devices by address, as CSV.
import { expect, test } from 'vitest'
import type { Columns } from './columns.ts'
import { endpointSheetColumns, readEndpoints } from './endpoints.ts'
import { gatewayDeviceSheetColumns, readGatewayDevices } from './gateway-devices.ts'
import { CsvError, mistakesText } from './mistakes.ts'
import { readCsv } from './read-csv.ts'

const sheetOf = <C extends string>(columns: Columns<C>, text: string) =>
  columns.sheet(readCsv(new TextEncoder().encode(text), columns.has))
const endpoints = (text: string) => readEndpoints(sheetOf(endpointSheetColumns, text), 'acme')
const devices = (text: string, secretForAll?: { env: string }) =>
  readGatewayDevices(sheetOf(gatewayDeviceSheetColumns, text), { organisation: 'acme', gateway: 'GW-1', secretForAll })

test('an endpoint gets what its row says, and an empty cell clears', () => {
  const { document, rows, mistakes } = endpoints(
    'Serial Number;Name;Asset Tag;Installed On;Warranty Until;field.po\nNF-1;Bar;A-1;2026-02-28;;P1\nNF-2;;;;2028-02-29;\n',
  )
  expect(mistakes).toEqual([])
  expect(document).toEqual({
    organisation: 'acme',
    endpoints: [
      {
        serial: 'NF-1',
        name: 'Bar',
        assetTag: 'A-1',
        installedOn: '2026-02-28',
        warrantyUntil: null,
        fields: { po: 'P1' },
      },
      {
        serial: 'NF-2',
        name: null,
        assetTag: null,
        installedOn: null,
        warrantyUntil: '2028-02-29',
        fields: { po: null },
      },
    ],
  })
  expect(rows[1]).toEqual({ number: 3, pointer: '/endpoints/1', names: ['NF-2'] })
})

test.each([
  [
    'serial,installed_on\nNF-1,2026-02-29\nNF-2,28.02.2026\n',
    'Row 2, column B (installed_on): 2026-02-29 is not in the calendar.\nRow 3, column B (installed_on): "28.02.2026" is not a date. Write it as 2027-01-31.',
  ],
  [
    'serial,name\n,B\n',
    'Row 2, column A (serial): The row has no serial number. Write that of a device, or remove the row.',
  ],
  ['serial\nNF-1\nNF-1\n', 'Row 3, column A (serial): Row 2 has the same device. Remove one of the two.'],
])('a mistake in a row of an endpoint is named (%#)', (text, message) => {
  expect(mistakesText(endpoints(text).mistakes)).toBe(message)
})

test.each([
  [
    '10.0.0.1:443',
    '',
    'Row 2, column B (host): "10.0.0.1:443" is not an IP address or a name. The port has its own column.',
  ],
  [
    '10.0.0.1',
    'AA:BB',
    'Row 2, column D (fingerprint): The cell is not the SHA-256 of a certificate. Write 32 pairs of hexadecimal digits with colons.',
  ],
])('an address or a fingerprint that the server would refuse is a mistake (%#)', (host, fingerprint, message) => {
  const { mistakes } = devices(`driver,host,room,fingerprint\npjlink,${host},Fjord,${fingerprint}\n`)
  expect(mistakesText(mistakes)).toBe(message)
})

test('a file without the column of the key is refused', () => {
  expect(() => endpoints('name\nBar\n')).toThrow(CsvError)
  expect(() => endpoints('name\nBar\n')).toThrow(
    'Row 1: The file has no column serial. The first row names the columns.',
  )
})

test('a device of a gateway gets the port of its driver, options of their types, and a secret by name only', () => {
  const { document, mistakes } = devices(
    [
      'driver,ip address,port,user,secret,region,location,room,option.pollSeconds,option.keepOpen,option.kind',
      'roomos,10.0.0.1,,admin,env:CODEC,Europe,Oslo,Fjord,,,',
      'PJLink,10.0.0.2,4353,,,,,Van,30,TRUE,display',
    ].join('\n'),
    { env: 'ASKED' },
  )
  expect(mistakes).toEqual([])
  expect(document.gatewayDevices).toEqual([
    {
      ...{
        gateway: 'GW-1',
        driver: 'roomos',
        host: '10.0.0.1',
        port: 443,
        username: 'admin',
        secret: { env: 'CODEC' },
      },
      room: ['Europe', 'Oslo', 'Fjord'],
    },
    {
      ...{ gateway: 'GW-1', driver: 'pjlink', host: '10.0.0.2', port: 4353, username: null, secret: { env: 'ASKED' } },
      ...{ room: 'Van', options: { pollSeconds: 30, keepOpen: true, kind: 'DISPLAY' } },
    },
  ])
})

test.each([
  [
    'driver,host,room\nfax,10.0.0.1,A\n',
    'Row 2, column A (driver): "fax" is not a driver. The drivers are roomos, pjlink, snmp, reach.',
  ],
  [
    'driver,host,room,secret\nroomos,10.0.0.1,A,hunter2\n',
    'Row 2, column D (secret): A secret is not in the file. Write env:NAME, with the name of an environment variable.',
  ],
  [
    'driver,host,room,option.keepOpen\nroomos,10.0.0.1,A,true\npjlink,h,A,maybe\n',
    'Row 2, column D (option.keepOpen): The driver roomos does not have this option. Empty the cell.\nRow 3, column D (option.keepOpen): "maybe" is not one of true, false.',
  ],
  [
    'driver,host,room\nroomos,10.0.0.1,A\nroomos,10.0.0.1,B\n',
    'Row 3, column B (host): Row 2 has the same address and port. Remove one of the two.',
  ],
  [
    'driver,host,port,room\nfax,10.0.0.1:443,many,\n',
    'Row 2, column A (driver): "fax" is not a driver. The drivers are roomos, pjlink, snmp, reach.\nRow 2, column D (room): The row has no room. Write the name of the room that the device is in.\nRow 2, column B (host): "10.0.0.1:443" is not an IP address or a name. The port has its own column.\nRow 2, column C (port): "many" is not a whole number from 1 to 65535.',
  ],
  [
    'driver,host,room\nreach,,\n',
    'Row 2, column C (room): The row has no room. Write the name of the room that the device is in.\nRow 2, column B (host): The row has no address. Write the IP address or name of the device.',
  ],
])('a mistake in a row of a gateway device is named (%#)', (text, message) => {
  expect(mistakesText(devices(text).mistakes)).toBe(message)
})

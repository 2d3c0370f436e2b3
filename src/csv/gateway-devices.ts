// Devices behind a gateway as CSV: one row for each device that the gateway connects to.
import { type DriverField, type DriverOption, driverIds, drivers, maxHostLength } from '../contract/fleet/drivers.ts'
import { fingerprintPattern, hostPattern } from '../contract/fleet/gateways.ts'
import { maxNameLength } from '../contract/shape.ts'
import type { EnvSecret, GatewayDeviceEntry } from '../plan/document.ts'
import { Columns, placeOf, type Sheet } from './columns.ts'
import { type CsvImport, listImport } from './csv-import.ts'
import type { Mistake } from './mistakes.ts'
import { CellReader, definedOnly, shown } from './values.ts'

const gatewayDeviceColumns = {
  driver: [],
  host: ['address', 'ip', 'ip_address'],
  port: [],
  username: ['user'],
  secret: ['password'],
  region: ['region_name'],
  location: ['location_name'],
  room: ['room_name'],
  name: ['device_name'],
  fingerprint: [],
  result: [],
} as const
type NamedColumn = keyof typeof gatewayDeviceColumns

/** `option.<name>` for each option of a driver. */
const optionFields = new Map<string, DriverField[]>()
for (const { fields } of Object.values(drivers)) {
  for (const field of fields) {
    if (field.isOption) optionFields.set(field.name, [...(optionFields.get(field.name) ?? []), field])
  }
}
export type GatewayDeviceColumn = NamedColumn | `option.${string}`

export const gatewayDeviceSheetColumns = new Columns<GatewayDeviceColumn>(
  { ...gatewayDeviceColumns, ...Object.fromEntries([...optionFields.keys()].map((name) => [`option.${name}`, []])) },
  { hasFields: false, required: [['driver'], ['host'], ['room']] },
)

export interface GatewayDeviceContext {
  readonly organisation: string
  /** The serial number of the gateway. */
  readonly gateway: string
  /** The variable of the secret that a person entered for all rows without one. */
  readonly secretForAll?: EnvSecret | undefined
}

type Reader = CellReader<GatewayDeviceColumn>

export function readGatewayDevices(sheet: Sheet<GatewayDeviceColumn>, context: GatewayDeviceContext): CsvImport {
  const mistakes: Mistake[] = []
  const rowOfAddress = new Map<string, number>()
  const entries = sheet.lines.flatMap((line) => {
    const reader = new CellReader(line)
    const entry = entryOf(reader, context)
    if (entry) {
      const address = `${entry.host} ${entry.port}`
      const before = rowOfAddress.get(address)
      if (before !== undefined)
        reader.wrong('host', `Row ${before} has the same address and port. Remove one of the two.`)
      rowOfAddress.set(address, before ?? line.number)
    }
    mistakes.push(...reader.mistakes)
    return !entry || reader.mistakes.length > 0 ? [] : [{ row: line.number, entry, name: entry.host }]
  })
  return listImport(context.organisation, 'gatewayDevices', entries, mistakes, (_, key) =>
    placeOf(sheet, key === 'room' || key === 'host' ? key : undefined),
  )
}

function entryOf(reader: Reader, { gateway, secretForAll }: GatewayDeviceContext): GatewayDeviceEntry | undefined {
  const driver = driverIds.find((id) => id === reader.line.cell('driver')?.toLowerCase())
  if (!driver) {
    reader.wrong(
      'driver',
      `${shown(reader.line.cell('driver') ?? '')} is not a driver. The drivers are ${driverIds.join(', ')}.`,
    )
  }
  const host = reader.text('host', maxHostLength)
  const room = roomReference(reader)
  if (!host) reader.wrong('host', 'The row has no address. Write the IP address or name of the device.')
  else if (!isHost.test(host))
    reader.wrong('host', `${shown(host)} is not an IP address or a name. The port has its own column.`)
  const read = {
    port: reader.integer('port', 1, 65_535),
    username: reader.text('username', 255),
    secret: reader.variable('secret'),
    options: driver && options(reader, driver),
    fingerprint: fingerprint(reader),
    name: reader.text('name', maxNameLength),
  }
  if (!driver || !host || !room) return undefined
  const values = definedOnly({
    ...read,
    // An empty cell means the port of the driver, which every item has.
    port: read.port ?? drivers[driver].defaultPort,
    secret: read.secret ?? (hasSecret(driver) ? secretForAll : undefined),
  })
  return { gateway, driver, host, room, ...values }
}

const isHost = new RegExp(hostPattern)
const isFingerprint = new RegExp(fingerprintPattern)

function fingerprint(reader: Reader): string | null | undefined {
  const text = reader.text('fingerprint', 95)?.toUpperCase()
  if (!text || isFingerprint.test(text)) return text
  return reader.wrong(
    'fingerprint',
    'The cell is not the SHA-256 of a certificate. Write 32 pairs of hexadecimal digits with colons.',
  )
}

const hasSecret = (driver: keyof typeof drivers) =>
  drivers[driver].fields.some(({ name, secret, isOption }) => secret && !isOption && name === 'secret')

function roomReference(reader: Reader): string | string[] | undefined {
  const room = reader.text('room', maxNameLength)
  const location = reader.text('location', maxNameLength)
  const region = reader.text('region', maxNameLength)
  if (!room) return reader.wrong('room', 'The row has no room. Write the name of the room that the device is in.')
  if (region && !location)
    return reader.wrong('location', 'A room is in a region through its location. Write the location.')
  return location ? [...(region ? [region] : []), location, room] : room
}

function options(reader: Reader, driver: keyof typeof drivers): GatewayDeviceEntry['options'] {
  const values = [...optionFields.keys()].flatMap((name) => {
    const text = reader.line.cell(`option.${name}`)
    if (text === undefined) return []
    const field = drivers[driver].fields.find((one) => one.isOption && one.name === name)
    if (field) return [[name, optionValue(reader, field, text)] as const]
    if (text !== '') reader.wrong(`option.${name}`, `The driver ${driver} does not have this option. Empty the cell.`)
    return []
  })
  return values.length === 0 ? undefined : definedOnly(Object.fromEntries(values))
}

/** An empty cell restores the default. */
function optionValue(
  reader: Reader,
  { name, type, secret, choices = [], min = -Infinity, max = Infinity }: DriverField,
  text: string,
): DriverOption | EnvSecret | null | undefined {
  const column = `option.${name}` as const
  if (text === '') return null
  if (secret) return reader.variable(column)
  if (type === 'TEXT') return reader.text(column, max)
  if (type === 'NUMBER') {
    const number = Number(text)
    if (number >= min && number <= max) return number
    return reader.wrong(column, `${shown(text)} is not a number from ${min} to ${max}.`)
  }
  const allowed: ReadonlyMap<string, DriverOption> =
    type === 'BOOLEAN' ? booleans : new Map(choices.map(({ value }) => [value.toLowerCase(), value]))
  return (
    allowed.get(text.toLowerCase()) ??
    reader.wrong(column, `${shown(text)} is not one of ${[...allowed.keys()].join(', ')}.`)
  )
}

/** Spreadsheets write TRUE and FALSE. */
const booleans = new Map([
  ['true', true],
  ['false', false],
])

// Reads what a device is: maker, model, serial number, firmware and kind.
import type { EndpointKind } from '../../../contract/device/models.ts'
import { realSerial } from '../../../contract/device/placeholders.ts'
import { type DeviceIdentity, DriverFailure } from '../../driver.ts'
import { type Maker, makerByNumber } from './makers.ts'
import { entityClassColumn, entityColumns, system, ups, upsIdentity } from './oids.ts'
import type { SnmpClient } from './snmp-client.ts'
import { type SnmpValue, snmpNumber, snmpText } from './snmp-values.ts'

export interface Description {
  readonly identity: DeviceIdentity
  readonly kind: EndpointKind
  readonly maker: string | undefined
  readonly hardwareVersion: string | undefined
  readonly isUps: boolean
}

/** Lengths that the service stores. */
const maxModelLength = 64
const maxSerialLength = 64
const maxTextLength = 255

/** ENTITY-MIB lists parts too, such as ports and fans; the chassis is among the first. */
const maxEntityRows = 40
const chassisClass = 3

const described = [...Object.values(system), ...Object.values(upsIdentity), ups.batteryStatus]

export async function readDescription(client: SnmpClient): Promise<Description> {
  const values = await client.get(described)
  const objectId = snmpText(values.get(system.objectId), maxTextLength)
  const sysDescr = snmpText(values.get(system.descr), maxTextLength)
  if (objectId === undefined && sysDescr === undefined) {
    throw new DriverFailure(
      'UNSUPPORTED',
      'The device answers, but shows nothing about itself. Allow this community or user to read 1.3.6.1.2.1 (mib-2).',
    )
  }
  const chassis = await readChassis(client)
  const isUps = values.get(ups.batteryStatus) !== undefined
  const text = (value: SnmpValue) => snmpText(value, maxTextLength)
  const maker = makerByNumber(objectId)
  const manufacturer = maker?.name ?? text(values.get(upsIdentity.maker)) ?? text(chassis?.maker)
  return {
    identity: {
      manufacturer,
      model:
        snmpText(values.get(upsIdentity.model), maxModelLength) ??
        snmpText(chassis?.model, maxModelLength) ??
        modelInWords(sysDescr) ??
        manufacturer ??
        'SNMP device',
      serial: realSerial(snmpText(chassis?.serial, maxSerialLength)),
      firmwareVersion:
        text(values.get(upsIdentity.software)) ??
        text(chassis?.software) ??
        text(chassis?.firmware) ??
        versionInWords(sysDescr),
    },
    kind: kindOf(maker, isUps, snmpNumber(values.get(system.services)), snmpNumber(values.get(system.bridgePorts))),
    maker: maker?.name,
    hardwareVersion: text(chassis?.hardware),
    isUps,
  }
}

type Chassis = { readonly [field in keyof typeof entityColumns]?: SnmpValue }

async function readChassis(client: SnmpClient): Promise<Chassis | undefined> {
  // Without an answer there is no session: a serial number that comes and goes would make two devices of one.
  const rows = await client.rows([entityClassColumn], maxEntityRows).catch(unlessUnreadable)
  const chassis = rows.find(({ values }) => values[0] === chassisClass)
  if (!chassis) return undefined
  const oids = Object.entries(entityColumns).map(([field, column]) => [field, `${column}.${chassis.index}`] as const)
  const values = await client.get(oids.map(([, oid]) => oid))
  return Object.fromEntries(oids.map(([field, oid]) => [field, values.get(oid)]))
}

/** Some agents send the rows of a table in no order. */
function unlessUnreadable(error: unknown): [] {
  if (error instanceof DriverFailure && error.state === 'UNSUPPORTED') return []
  throw error
}

/** Layer 2, the layer of switches, is the second bit of sysServices. */
const switches = 0b10

function kindOf(maker: Maker | undefined, isUps: boolean, services = 0, bridgePorts = 0): EndpointKind {
  if (isUps) return 'POWER'
  if (maker?.kind) return maker.kind
  return (services & switches) !== 0 || bridgePorts > 1 ? 'NETWORK' : 'OTHER'
}

/** sysDescr is free text; most makers write the model first. */
const modelInWords = (sysDescr: string | undefined) =>
  sysDescr
    ?.split(/[,;:(\n]/)[0]
    ?.slice(0, maxModelLength)
    .trim() || undefined

const versionInWords = (sysDescr: string | undefined) =>
  /\bversion:? v?([\w.()-]*\d[\w.()-]*)/i.exec(sysDescr ?? '')?.[1]

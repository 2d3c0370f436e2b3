// Reads an uninterruptible power supply with UPS-MIB (RFC 1628): faults and readings.
import type { FaultLevel } from '../../../contract/fleet/reported-status.ts'
import { ups, upsAlarmColumn, upsKnownAlarms } from './oids.ts'
import type { SnmpClient } from './snmp-client.ts'
import { type SnmpValue, snmpNumber, snmpText } from './snmp-values.ts'

export interface UpsFault {
  readonly code: string
  readonly level: FaultLevel
  readonly text: string
}
export interface UpsReading {
  readonly name: string
  readonly value: number
  readonly unit: string
}

const batteryLow = 3
const batteryDepleted = 4
const source = { none: 2, bypass: 4, battery: 5 } as const

/** The battery is less charged than this only after it was used, or when it is worn. */
const chargeLimits = { warningPercent: 50, criticalPercent: 20 } as const

/** Alarms that the other objects do not tell, by the last number of their object identifier. */
const alarms: Readonly<Record<string, UpsFault>> = {
  1: { code: 'ups.batteryBad', level: 'CRITICAL', text: 'A battery of the UPS must be replaced.' },
  5: { code: 'ups.temperature', level: 'WARNING', text: 'The temperature of the UPS is out of its limits.' },
  6: { code: 'ups.input', level: 'WARNING', text: 'The mains at the input of the UPS are out of their limits.' },
  7: { code: 'ups.output', level: 'WARNING', text: 'The output of the UPS is out of its limits.' },
  8: { code: 'ups.overload', level: 'CRITICAL', text: 'The UPS is overloaded.' },
  13: { code: 'ups.charger', level: 'CRITICAL', text: 'The charger of the UPS has failed.' },
  16: { code: 'ups.fan', level: 'WARNING', text: 'A fan of the UPS has failed.' },
  17: { code: 'ups.fuse', level: 'CRITICAL', text: 'A fuse of the UPS has blown.' },
  18: { code: 'ups.general', level: 'CRITICAL', text: 'The UPS has a general fault.' },
  19: { code: 'ups.test', level: 'WARNING', text: 'The last test of the UPS has failed.' },
  20: { code: 'ups.communication', level: 'WARNING', text: 'The network card has lost its UPS.' },
  22: { code: 'ups.shutdown', level: 'CRITICAL', text: 'The UPS is about to switch off.' },
  23: { code: 'ups.shutdown', level: 'CRITICAL', text: 'The UPS is about to switch off.' },
}
const maxAlarms = 16

export const upsObjects = Object.values(ups)

export function upsReadings(values: ReadonlyMap<string, SnmpValue>): UpsReading[] {
  const reading = (name: string, oid: string, unit: string) => {
    const value = snmpNumber(values.get(oid))
    return value === undefined || value < 0 ? [] : [{ name, value, unit }]
  }
  return [
    ...reading('batteryCharge', ups.chargePercent, '%'),
    ...reading('batteryMinutes', ups.minutesLeft, 'min'),
    ...reading('batteryTemp', ups.batteryCelsius, '°C'),
    ...reading('load', ups.loadPercent, '%'),
  ]
}

/** The texts name no numbers that change, because a fault with a new text is a new report. */
export function upsFaults(values: ReadonlyMap<string, SnmpValue>): UpsFault[] {
  const output = snmpNumber(values.get(ups.outputSource))
  const battery = snmpNumber(values.get(ups.batteryStatus))
  const charge = snmpNumber(values.get(ups.chargePercent)) ?? 100
  const faults: UpsFault[] = []
  if (output === source.battery) {
    faults.push({ code: 'ups.onBattery', level: 'WARNING', text: 'The UPS runs on battery: its mains have failed.' })
  }
  if (output === source.bypass) {
    faults.push({
      code: 'ups.bypass',
      level: 'WARNING',
      text: 'The UPS is bypassed: a power failure would switch off its devices.',
    })
  }
  if (output === source.none)
    faults.push({ code: 'ups.noOutput', level: 'CRITICAL', text: 'The output of the UPS is off.' })
  if (battery === batteryLow) {
    faults.push({ code: 'ups.lowBattery', level: 'CRITICAL', text: 'The battery of the UPS is almost empty.' })
  }
  if (battery === batteryDepleted) {
    faults.push({ code: 'ups.lowBattery', level: 'CRITICAL', text: 'The battery of the UPS is empty.' })
  }
  if (charge < chargeLimits.warningPercent) {
    const isCritical = charge < chargeLimits.criticalPercent
    const limit = isCritical ? chargeLimits.criticalPercent : chargeLimits.warningPercent
    const text = `The battery of the UPS is charged to less than ${limit} %.`
    faults.push({ code: 'ups.charge', level: isCritical ? 'CRITICAL' : 'WARNING', text })
  }
  return faults
}

/** Reads the table of alarms only while there are some. */
export async function readUpsAlarms(client: SnmpClient, values: ReadonlyMap<string, SnmpValue>): Promise<UpsFault[]> {
  if (!snmpNumber(values.get(ups.alarmsPresent))) return []
  const rows = await client.rows([upsAlarmColumn], maxAlarms)
  const found = rows.flatMap((row) => {
    const oid = snmpText(row.values[0], 255) ?? ''
    return oid.startsWith(`${upsKnownAlarms}.`) ? (alarms[oid.slice(upsKnownAlarms.length + 1)] ?? []) : []
  })
  return [...new Map(found.map((fault) => [fault.code, fault])).values()]
}

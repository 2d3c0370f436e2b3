// The drivers of this gateway, by their id.
import type { DriverId } from '../contract/fleet/drivers.ts'
import type { Driver } from './driver.ts'
import { pjlinkDriver } from './drivers/pjlink/pjlink-driver.ts'
import { ReachDriver } from './drivers/reach/reach.ts'
import { roomos } from './drivers/roomos/roomos.ts'
import { SnmpDriver } from './drivers/snmp/snmp.ts'

/** A gateway that is older than the server lacks a driver; tests have their own. */
export type DriverTable = Readonly<Partial<Record<DriverId, Driver>>>

export const driverTable: Readonly<Record<DriverId, Driver>> = {
  roomos,
  pjlink: pjlinkDriver(),
  snmp: new SnmpDriver(),
  reach: new ReachDriver(),
}

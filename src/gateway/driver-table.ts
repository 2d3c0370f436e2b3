// The drivers of this gateway, by their id.
import type { DriverId } from '../contract/fleet/drivers.ts'
import type { Driver } from './driver.ts'

export type DriverTable = Readonly<Partial<Record<DriverId, Driver>>>

export const driverTable: DriverTable = {}

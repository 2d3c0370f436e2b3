// The fields of a location that people set: their columns, and what requests, answers and the audit log make of them.
import type { Static } from 'typebox'
import type { Location } from '../../../contract/fleet/locations.ts'
import { type WeeklyHours, weekdays } from '../../../contract/weekly-hours.ts'
import type { InputOf } from '../../context/handlers.ts'
import { invalid } from '../../core/failure.ts'
import { timeZoneProblem } from '../../core/time/time-zone.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'

export type LocationValues = Omit<DatabaseSchema['locations'], 'org' | 'id' | 'version'>

const emptyLocation: LocationValues = {
  name: '',
  region_id: null,
  timezone: null,
  change_window: null,
  address: null,
  contact: null,
  external_id: null,
}
export const locationFieldColumns = Object.keys(emptyLocation) as readonly (keyof LocationValues)[]

/** The values after a request. Its absent keys keep what is stored; a new location has nothing yet. */
export function locationValues(
  body: InputOf<'locationsUpdate'>['body'],
  region_id: number | null,
  stored: LocationValues = emptyLocation,
): LocationValues {
  return {
    name: body.name ?? stored.name,
    region_id,
    timezone: body.timezone === undefined ? stored.timezone : checkedTimeZone(body.timezone),
    change_window: body.changeWindow === undefined ? stored.change_window : windowText(body.changeWindow),
    address: body.address === undefined ? stored.address : body.address,
    contact: body.contact === undefined ? stored.contact : body.contact,
    external_id: body.externalId === undefined ? stored.external_id : body.externalId,
  }
}

type ShownFields = Omit<Static<typeof Location>, 'id' | 'name' | 'region'>
/** The fields that a location can be without, as answers and the audit log show them. */
const optionalFields = (
  row: LocationValues,
): { readonly [K in keyof ShownFields]-?: NonNullable<ShownFields[K]> | null } => ({
  timezone: row.timezone,
  changeWindow: row.change_window === null ? null : JSON.parse(row.change_window),
  address: row.address,
  contact: row.contact,
  externalId: row.external_id,
})

export const auditedLocation = new AuditedFields(
  (row: LocationValues) => ({ name: row.name, regionId: row.region_id, ...optionalFields(row) }),
  ['name', 'regionId'],
)

interface ShownLocation extends LocationValues {
  readonly id: number
  readonly region_name: string | null
}

export function locationView(row: ShownLocation): Static<typeof Location> {
  const { id, name, region_id, region_name } = row
  const region = region_id === null ? {} : { region: { id: region_id, name: region_name ?? '' } }
  const present = Object.entries(optionalFields(row)).filter(([, value]) => value !== null)
  return { id, name, ...region, ...(Object.fromEntries(present) as ShownFields) }
}

function checkedTimeZone(zone: string | null): string | null {
  const problem = zone === null ? undefined : timeZoneProblem(zone)
  if (problem !== undefined) throw invalid([{ field: 'timezone', error: problem }])
  return zone
}

/** The days are stored once each, in the order of the week. An empty list means no window, like null. */
function windowText(window: WeeklyHours | readonly null[] | null): string | null {
  if (window === null || !('days' in window)) return null
  const { days, from, to } = window
  return JSON.stringify({ days: weekdays.filter((day) => days.includes(day)), from, to })
}

// Lists the entries of a document, each with the fields that it names, its place in the tree of sites, and its JSON Pointer.
import { minuteMs } from '../contract/durations.ts'
import { incidentRules, type RuleId } from '../contract/incidents/rule-table.ts'
import type { OrganisationDocument } from './document.ts'
import type { Kind } from './things.ts'

export interface Entry {
  readonly kind: Kind
  readonly pointer: string
  /** The names on the path to it, its own at the end. */
  readonly path: readonly string[]
  readonly id: number | string | undefined
  readonly externalId: string | undefined
  /** The region of a location, the location of a room. */
  readonly parent: Entry | undefined
  /** The fields that it names, as they are in the document; null clears one. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Whether it names its locations or rooms, which are then complete for a prune. */
  readonly listsChildren: boolean
}

/** The sections whose entries can be deleted by a prune. */
export const prunedSections = {
  regions: 'region',
  profiles: 'profile',
  gatewayDevices: 'gatewayDevice',
  silences: 'silence',
  channels: 'channel',
} as const satisfies Partial<Record<keyof OrganisationDocument, Kind>>

type Fields = Record<string, unknown>
interface Parent {
  readonly entry: Entry | undefined
  readonly pointer: string
}

export function listEntries(document: OrganisationDocument): Entry[] {
  const entries: Entry[] = []

  const add = (kind: Kind, pointer: string, path: readonly string[], raw: Fields, more: Partial<Entry> = {}): Entry => {
    const { id, externalId, ...fields } = raw
    const entry: Entry = {
      kind,
      pointer,
      path,
      id: id as number | string | undefined,
      externalId: (tidy(externalId) ?? undefined) as string | undefined,
      parent: undefined,
      listsChildren: false,
      ...more,
      fields: Object.fromEntries(
        Object.entries({ ...(externalId !== undefined && { externalId }), ...fields, ...more.fields }).map(
          ([name, value]) => [name, tidy(value)],
        ),
      ),
    }
    entries.push(entry)
    return entry
  }
  const pathBelow = (parent: Entry | undefined, name: string) => [...(parent?.path ?? []), name.trim()]

  const addRooms = (rooms: OrganisationDocument['rooms'], { entry: location, pointer }: Parent) => {
    for (const [i, room] of (rooms ?? []).entries()) {
      add('room', `${pointer}/rooms/${i}`, pathBelow(location, room.name), room, {
        parent: location,
        fields: { location: location ?? null },
      })
    }
  }
  const addLocations = (locations: OrganisationDocument['locations'], { entry: region, pointer }: Parent) => {
    for (const [i, { rooms, ...location }] of (locations ?? []).entries()) {
      const own = `${pointer}/locations/${i}`
      const entry = add('location', own, pathBelow(region, location.name), location, {
        parent: region,
        fields: { region: region ?? null },
        listsChildren: rooms !== undefined,
      })
      addRooms(rooms, { entry, pointer: own })
    }
  }
  for (const [i, { locations, ...region }] of (document.regions ?? []).entries()) {
    const pointer = `/regions/${i}`
    const entry = add('region', pointer, pathBelow(undefined, region.name), region, {
      listsChildren: locations !== undefined,
    })
    addLocations(locations, { entry, pointer })
  }
  addLocations(document.locations, { entry: undefined, pointer: '' })
  addRooms(document.rooms, { entry: undefined, pointer: '' })

  for (const [i, profile] of (document.profiles ?? []).entries()) {
    add('profile', `/profiles/${i}`, [profile.name.trim()], profile)
  }
  for (const [i, endpoint] of (document.endpoints ?? []).entries()) {
    add('endpoint', `/endpoints/${i}`, [endpoint.serial.trim()], endpoint)
  }
  for (const [i, device] of (document.gatewayDevices ?? []).entries()) {
    const address = device.port === undefined ? device.host : `${device.host}:${device.port}`
    add('gatewayDevice', `/gatewayDevices/${i}`, [device.gateway.trim(), address], device)
  }
  for (const [i, { ...user }] of (document.users ?? []).entries()) {
    add('user', `/users/${i}`, [user.email.trim()], user)
  }
  for (const [rule, settings] of Object.entries(document.incidentRules ?? {})) {
    add('incidentRule', `/incidentRules/${rule}`, [rule], withDefaults(rule as RuleId, settings), { id: rule })
  }
  for (const [i, silence] of (document.silences ?? []).entries()) {
    add('silence', `/silences/${i}`, [silence.reason.trim()], silence)
  }
  for (const [i, channel] of (document.channels ?? []).entries()) {
    add('channel', `/channels/${i}`, [channel.name.trim()], channel)
  }
  return entries
}

/** The service trims texts. An empty text or list is the same as none. Keys of a map and references stay as they are. */
function tidy(value: unknown): unknown {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim()
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? value.map((item) => item.trim())
    : value
}

/** The settings of a rule without changes. */
export function ruleDefaults(rule: RuleId): Readonly<Record<string, unknown>> {
  const { severity, holdMs, clearMs, limits } = incidentRules[rule]
  return { enabled: true, severity, holdMinutes: holdMs / minuteMs, clearMinutes: clearMs / minuteMs, limits }
}

/** Null restores the default of a rule. */
function withDefaults(rule: RuleId, settings: Fields): Fields {
  const defaults = ruleDefaults(rule)
  const limitDefaults = defaults.limits as Fields
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      if (value === null) return [name, defaults[name]]
      if (name !== 'limits') return [name, value]
      const named = Object.entries(value as Fields).map(([limit, given]) => [limit, given ?? limitDefaults[limit]])
      return [name, Object.fromEntries(named)]
    }),
  )
}

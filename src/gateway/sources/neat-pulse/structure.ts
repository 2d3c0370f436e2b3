// Reads the regions, locations, rooms and profiles of Neat Pulse, for the plan that a person applies.
import Format from 'typebox/format'
import Value from 'typebox/value'
import { configKeys, ProfileConfig } from '../../../contract/device/config-keys.ts'
import { maxSourceDevices, type ReportedStructure, type SourceContent } from '../../../contract/fleet/sources.ts'
import { isTimeZone } from '../../../contract/time.ts'
import { type AnswerObject, idText, isObject } from './answers.ts'
import type { Upstream } from './upstream.ts'

export type PulseStructure = Omit<ReportedStructure, 'revision'>

/** The lists as they are read first, without the settings of the profiles. */
export interface PulseLists {
  readonly regions: readonly AnswerObject[]
  readonly locations: readonly AnswerObject[]
  readonly rooms: readonly AnswerObject[]
  /** Undefined if the source, or the API key, does not have them. */
  readonly profiles: readonly AnswerObject[] | undefined
}

/** Not every version has profiles, and not every key may see them. The devices are mirrored without them. */
const statusesWithoutProfiles = [403, 404, 405, 501]

export async function readLists(upstream: Upstream, kind: 'list' | 'round'): Promise<PulseLists> {
  const list = (path: string, missing: readonly number[] = []) => upstream.list(kind, path, path.slice(1), missing)
  return {
    regions: (await list('/regions')) ?? [],
    locations: (await list('/locations')) ?? [],
    rooms: (await list('/rooms')) ?? [],
    profiles: await list('/profiles', statusesWithoutProfiles),
  }
}

export const pulseContent = (lists: PulseLists, deviceCount: number): SourceContent => ({
  regions: lists.regions.length,
  locations: lists.locations.length,
  rooms: lists.rooms.length,
  ...(lists.profiles && { profiles: lists.profiles.length }),
  devices: deviceCount,
})

export async function readStructure(upstream: Upstream, lists: PulseLists): Promise<PulseStructure> {
  const profiles: PulseStructure['profiles'] = []
  for (const profile of named(lists.profiles ?? [])) {
    const whole = await upstream.object('round', `/profiles/${encodeURIComponent(profile.id)}`)
    const { description } = profile.fields
    profiles.push({
      id: profile.id,
      name: profile.name,
      ...(typeof description === 'string' && description !== '' && { description: description.slice(0, 1024) }),
      ...(isObject(whole?.config) && { config: knownSettings(whole.config) }),
    })
  }
  return {
    regions: named(lists.regions).map(({ id, name }) => ({ id, name })),
    locations: named(lists.locations).map(({ id, name, fields }) => ({
      id,
      name,
      ...idIn('regionId', fields.region, fields.regionId),
    })),
    rooms: named(lists.rooms).map(({ id, name, fields }) => ({
      id,
      name,
      ...idIn('locationId', fields.location, fields.locationId),
      ...idIn('profileId', fields.profile, fields.profileId),
      ...(Number.isInteger(fields.capacity) && { capacity: fields.capacity as number }),
    })),
    profiles,
  }
}

interface Named {
  readonly id: string
  readonly name: string
  readonly fields: AnswerObject
}

/** Things without an identifier or a name cannot be linked. */
function named(items: readonly AnswerObject[]): Named[] {
  const found = new Map<string, Named>()
  for (const fields of items) {
    const id = idText(fields.id)
    const name = typeof fields.name === 'string' ? fields.name.trim().slice(0, 255) : ''
    if (id !== undefined && id.length <= 64 && name !== '') found.set(id, { id, name, fields })
  }
  return [...found.values()].slice(0, maxSourceDevices)
}

/** The parent is an object with an id, or an id. */
function idIn<N extends string>(name: N, parent: unknown, plain: unknown): { [K in N]?: string } {
  const id = (isObject(parent) ? idText(parent.id) : undefined) ?? idText(plain)
  return (id === undefined ? {} : { [name]: id }) as { [K in N]?: string }
}

/** The settings that both sides know, without passwords, which cannot be read. */
function knownSettings(config: AnswerObject): NonNullable<PulseStructure['profiles'][number]['config']> {
  Format.Set('timezone', (text) => text === 'Africa/Istanbul' || isTimeZone(text))
  Format.Set('line', (text) => text.trim() !== '')
  const shapes = (ProfileConfig as unknown as { readonly properties: Readonly<Record<string, object>> }).properties
  const known = Object.entries(config).filter(
    ([key, value]) =>
      Object.hasOwn(configKeys, key) &&
      !configKeys[key]?.secret &&
      value !== null &&
      Value.Check(shapes[key] as never, value),
  )
  return Object.fromEntries(known) as NonNullable<PulseStructure['profiles'][number]['config']>
}

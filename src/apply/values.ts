// Turns answers of the API into the fields of a document.

import { type DriverId, drivers, optionsWithDefaults } from '../contract/fleet/drivers.ts'
import type { ResponseOf } from '../contract/operation.ts'
import type { Operations } from '../contract/operations.ts'
import { storedSecret } from '../plan/compare.ts'
import { kindTable } from '../plan/kinds.ts'
import type { Kind, ThingRef, ThingValue, Values } from '../plan/things.ts'

type Answer<K extends keyof Operations> = ResponseOf<Operations[K]>

/** Leaves out fields that are not set. */
const set = (values: Readonly<Record<string, unknown>>): Values =>
  Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, ThingValue] => entry[1] !== undefined && entry[1] !== null,
    ),
  )
const target = (kind: ThingRef['kind'], id: number | string | undefined): ThingRef | undefined =>
  id === undefined ? undefined : { kind, id }

/** The fields that an answer names and writes as the document does. */
const ownFields = (kind: Kind, answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(kindTable[kind].fields)
      .filter(([, fieldKind]) => fieldKind === 'plain' || fieldKind === 'map')
      .map(([field]) => [field, answer[field]]),
  )

export const regionFields = (region: Answer<'regionsGet'>): Values => set(ownFields('region', region))

export const locationFields = (location: Answer<'locationsGet'>): Values =>
  set({ ...ownFields('location', location), region: target('region', location.region?.id) })

type ListedRoom = Answer<'roomsList'>['rooms'][number]
export const roomFields = (room: ListedRoom | Answer<'roomsGet'>): Values =>
  set({
    ...ownFields('room', room),
    location: target('location', room.location?.id),
    profile: target('profile', room.profileId),
  })

type ProfileVersions = Answer<'profileVersionsList'>['versions']

/** The service never returns passwords. The versions of the profile tell which are set. */
export const profileFields = (answer: Answer<'profilesGet'>, versions: ProfileVersions): Values => {
  const secrets = passwordsSetBy(versions).map((key) => [key, storedSecret])
  return set({ ...ownFields('profile', answer.profile), config: { ...answer.config, ...Object.fromEntries(secrets) } })
}

const passwords = ['remoteAccessAdminPassword', 'settingsPassword']

/** Versions are the newest first; each says what it changed. */
const passwordsSetBy = (versions: ProfileVersions): string[] =>
  passwords.filter((key) => versions.find(({ diff }) => diff[key])?.diff[key]?.after !== undefined)

export const endpointValues = (endpoint: Answer<'endpointsGet'>): Values => {
  const { serial, name, reportedName, externalId, note, assetTag, installedOn, warrantyUntil, fields } = endpoint
  return set({ serial, name, reportedName, externalId, note, assetTag, installedOn, warrantyUntil, fields })
}

export const gatewayDeviceValues = (device: Answer<'gatewayDevicesGet'>): Values => {
  const { gatewayId, driver, host, port, username, secrets, options, fingerprint, roomId, name, endpointId } = device
  const stored = secrets.filter((secret) => secret !== 'secret').map((secret) => [secret, storedSecret])
  return set({
    gateway: gatewayId,
    driver,
    host,
    port,
    username,
    secret: secrets.includes('secret') ? storedSecret : undefined,
    options: { ...withoutDefaults(driver, options), ...Object.fromEntries(stored) },
    fingerprint,
    room: target('room', roomId),
    name,
    // Not a field of the document: a deletion says that it unenrols this endpoint.
    endpoint: endpointId,
  })
}

/** An option with its default is the same as one without a value. */
function withoutDefaults(driver: string, options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const defaults = driver in drivers ? optionsWithDefaults(driver as DriverId, {}) : {}
  return Object.fromEntries(Object.entries(options).filter(([name, value]) => defaults[name] !== value))
}

export const userFields = (user: Answer<'usersGet'>): Values => {
  const { email, name, role, allRegions, regionIds, state } = user
  const regions = regionIds.map((id) => target('region', id))
  return set({ email, name, role, allRegions, regions, disabled: state === 'DISABLED' })
}

export const ruleValues = (rule: Answer<'incidentRulesUpdate'>): Values => {
  const { enabled, severity, holdMinutes, clearMinutes, limits } = rule
  return set({ enabled, severity, holdMinutes, clearMinutes, limits })
}

export const silenceValues = (silence: Answer<'silencesCreate'>): Values => {
  const { place, rules, reason, weekly, to } = silence
  return set({ place: placeOf(place), rules, reason, weekly, to })
}

function placeOf(place: Answer<'silencesCreate'>['place']): ThingValue {
  const { regionId, locationId, roomId, endpointId } = place
  return (
    target('region', regionId) ??
    target('location', locationId) ??
    target('room', roomId) ??
    target('endpoint', endpointId) ??
    'all'
  )
}

export const channelValues = (channel: Answer<'channelsGet'>): Values => {
  const { name, kind, url, routingKey, to, events, minSeverity, rules, regionIds, locationIds } = channel
  const { enabled, hours, heartbeatMinutes } = channel
  return set({
    name,
    kind,
    url: url === undefined ? undefined : storedSecret,
    routingKey: routingKey === undefined ? undefined : storedSecret,
    to,
    events,
    minSeverity,
    rules,
    regions: regionIds.map((id) => target('region', id)),
    locations: locationIds.map((id) => target('location', id)),
    enabled,
    hours,
    heartbeatMinutes,
  })
}

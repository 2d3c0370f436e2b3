// Reads an organisation through the API, as far as a document needs it for a plan, or all of it for an export.
import type { Client } from '../client/client.ts'
import { incidentRules } from '../contract/incidents/rule-table.ts'
import type { ResponseOf } from '../contract/operation.ts'
import type { Operations } from '../contract/operations.ts'
import type { Permissions } from '../contract/people/permissions.ts'
import { emailKey } from '../contract/text.ts'
import type { OrganisationDocument } from '../plan/document.ts'
import type { Id, Kind, OrganisationThing, ProfileUse, Snapshot, Values } from '../plan/things.ts'
import { mapInParallel } from './parallel.ts'
import {
  channelValues,
  endpointValues,
  gatewayDeviceValues,
  locationFields,
  profileFields,
  regionFields,
  roomFields,
  ruleValues,
  silenceValues,
  userFields,
} from './values.ts'

/** Without a document everything that a document can contain is read. */
export async function readOrganisation(
  client: Client,
  document: OrganisationDocument | undefined,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Snapshot> {
  const call = { signal }
  const needs = (section: keyof OrganisationDocument) => !document || document[section] !== undefined
  const { body: me } = await client.meGet({}, call)
  const permissions = permissionsOf(me)
  // A caller who is limited to regions sees users without their other regions: a document of these would take the regions from the users.
  const hiddenKinds: readonly Kind[] = [
    ...(permissions.manage ? [] : (['channel'] as const)),
    ...(me.allRegions ? [] : (['user'] as const)),
  ]
  const [{ body: regions }, { body: locations }, { body: rooms }, { body: profiles }] = await Promise.all([
    client.regionsList({}, call),
    client.locationsList({}, call),
    client.roomsList({}, call),
    client.profilesList({}, call),
  ])
  const things: OrganisationThing[] = [
    ...regions.regions.map((region) => thing('region', region.id, regionFields(region))),
    ...locations.locations.map((location) => thing('location', location.id, locationFields(location))),
    ...rooms.rooms.map((room) => thing('room', room.id, roomFields(room))),
  ]
  const profileUses = new Map<number, ProfileUse>()
  if (needs('profiles')) {
    const read = await mapInParallel(profiles.profiles, ({ id }) =>
      readProfile(client, id, document !== undefined, call),
    )
    for (const { profile, use } of read) {
      things.push(profile)
      if (use) profileUses.set(profile.id as number, use)
    }
  } else {
    for (const { id, name, externalId } of profiles.profiles) {
      things.push(thing('profile', id, { name, ...(externalId !== undefined && { externalId }) }))
    }
  }
  const gateways = needs('gatewayDevices') ? (await client.gatewaysList({}, call)).body.gateways : []
  const lists = await mapInParallel(gateways, ({ id }) => client.gatewayDevicesList({ id }, call))
  for (const { body } of lists) {
    // The devices of a source are adopted and excluded, and not made of a document.
    const own = body.devices.filter(({ sourceId }) => sourceId === undefined)
    things.push(...own.map((device) => thing('gatewayDevice', device.id, gatewayDeviceValues(device))))
  }
  const users = needs('users') && !hiddenKinds.includes('user') ? (await client.usersList({}, call)).body.users : []
  things.push(...users.filter(({ role }) => role !== 'owner').map((user) => thing('user', user.id, userFields(user))))
  if (needs('incidentRules')) {
    const { rules } = (await client.incidentRulesList({}, call)).body
    things.push(
      ...rules
        .filter(({ rule }) => rule in incidentRules)
        .map((rule) => thing('incidentRule', rule.rule, ruleValues(rule))),
    )
  }
  const silences = needs('silences') ? (await client.silencesList({}, call)).body.silences : []
  const weekly = silences.filter(({ weekly }) => weekly)
  things.push(...weekly.map((silence) => thing('silence', silence.id, silenceValues(silence))))
  if (needs('channels') && !hiddenKinds.includes('channel')) {
    const { channels } = (await client.channelsList({}, call)).body
    things.push(...channels.map((channel) => thing('channel', channel.id, channelValues(channel))))
  }
  things.push(...(await readEndpoints(client, document, weekly, call)))
  return {
    organisation: me.org.id,
    permissions,
    seesAllRegions: me.allRegions,
    things,
    hiddenKinds,
    endpointsByRoom: new Map(
      rooms.rooms.filter(({ endpointCount }) => endpointCount > 0).map(({ id, endpointCount }) => [id, endpointCount]),
    ),
    profileUses,
    ownerEmails: users.filter(({ role }) => role === 'owner').map(({ email }) => emailKey(email)),
    gateways: gateways.map(({ id, serial, name }) => ({ id, serial, name })),
  }
}

type Call = { readonly signal: AbortSignal | undefined }
type Answer<K extends keyof Operations> = ResponseOf<Operations[K]>

const thing = (kind: Kind, id: Id, values: Values): OrganisationThing => ({ kind, id, values })

const permissionsOf = ({ scopes, manage, allRegions }: Answer<'meGet'>): Permissions => ({
  read: scopes.includes('read') || scopes.includes('write'),
  operate: scopes.includes('operate') || scopes.includes('write'),
  write: scopes.includes('write'),
  manage,
  everywhere: scopes.includes('write') && allRegions,
  auditLog: true,
})

async function readProfile(client: Client, id: number, withUse: boolean, call: Call) {
  const [{ body: answer }, { body: versions }, reach] = await Promise.all([
    client.profilesGet({ id }, call),
    client.profileVersionsList({ id }, call),
    withUse ? client.profilesReach({ id }, call) : undefined,
  ])
  const use: ProfileUse | undefined = reach && {
    endpointCount: reach.body.endpointCount,
    endpointsByRoom: new Map(
      reach.body.rooms.filter(({ endpoints }) => endpoints.length > 0).map((room) => [room.id, room.endpoints.length]),
    ),
  }
  return { profile: thing('profile', id, profileFields(answer, versions.versions)), use }
}

/** Endpoints that the document names, or that are the place of a silence. */
async function readEndpoints(
  client: Client,
  document: OrganisationDocument | undefined,
  silences: Answer<'silencesList'>['silences'],
  call: Call,
): Promise<OrganisationThing[]> {
  const serials = new Set([
    ...(document?.endpoints ?? []).map(({ serial }) => serial.trim()),
    ...(document?.silences ?? []).flatMap(({ place }) => place.endpoint?.trim() ?? []),
  ])
  const ids = new Set(silences.flatMap(({ place }) => place.endpointId ?? []))
  if (serials.size === 0 && ids.size === 0) return []
  const { endpoints } = (await client.endpointsBasicList({}, call)).body
  const wanted = endpoints.filter(({ id, serial }) => ids.has(id) || serials.has(serial))
  return mapInParallel(wanted, async ({ id }) =>
    thing('endpoint', id, endpointValues((await client.endpointsGet({ id }, call)).body)),
  )
}

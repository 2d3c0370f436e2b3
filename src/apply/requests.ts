// The requests of steps: how a thing is read again before its step, and what the step sends.
import { ApiError, type Client } from '../client/client.ts'
import type { BodyOf } from '../contract/operation.ts'
import type { Operations } from '../contract/operations.ts'
import { isEnvSecret } from '../plan/compare.ts'
import type { EnvSecret } from '../plan/document.ts'
import { kindTable } from '../plan/kinds.ts'
import { changesConfig, type OrganisationStep } from '../plan/plan.ts'
import type { Id, Kind, StepOperation, ThingRef, ThingValue, Values } from '../plan/things.ts'
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

export interface FreshThing {
  readonly values: Values
  readonly etag?: string | undefined
  /** Endpoints of a room or of a gateway device, or those that have a profile whose config changes. */
  readonly endpointCount?: number
}

/** Reads the thing of a step again. Undefined if it no longer exists. */
export const readAgain = (client: Client, step: OrganisationStep): Promise<FreshThing | undefined> =>
  readThing(client, step).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })

/** Undefined if the thing is absent from its list. A thing that is read alone is a 404 then. */
async function readThing(client: Client, step: OrganisationStep): Promise<FreshThing | undefined> {
  const id = step.id as Id
  const [numberId, textId] = [id as number, id as string]
  switch (step.kind) {
    case 'region':
      return fresh(await client.regionsGet({ id: numberId }), regionFields)
    case 'location':
      return fresh(await client.locationsGet({ id: numberId }), locationFields)
    case 'room': {
      const answer = await client.roomsGet({ id: numberId })
      return { ...fresh(answer, roomFields), endpointCount: answer.body.endpoints.length }
    }
    case 'profile': {
      const answer = await client.profilesGet({ id: numberId })
      const found = fresh(answer, (body) => profileFields(body, []))
      if (!changesConfig(step)) return found
      return { ...found, endpointCount: (await client.profilesReach({ id: numberId })).body.endpointCount }
    }
    case 'endpoint':
      return fresh(await client.endpointsGet({ id: textId }), endpointValues)
    case 'gatewayDevice': {
      const gateway = String(step.before.gateway ?? step.after.gateway)
      const answer = await client.gatewayDevicesGet({ id: gateway, deviceId: textId })
      return { ...fresh(answer, gatewayDeviceValues), endpointCount: answer.body.endpointId === undefined ? 0 : 1 }
    }
    case 'user':
      return fresh(await client.usersGet({ id: textId }), userFields)
    case 'channel':
      return fresh(await client.channelsGet({ id: textId }), channelValues)
    case 'incidentRule': {
      const { rules } = (await client.incidentRulesList()).body
      const rule = rules.find((item) => item.rule === id)
      return rule && { values: ruleValues(rule) }
    }
    case 'silence': {
      const { silences } = (await client.silencesList()).body
      const silence = silences.find((item) => item.id === id)
      return silence && { values: silenceValues(silence) }
    }
  }
}

const fresh = <B>(
  { body, etag }: { body: B; etag: string | undefined },
  valuesOf: (body: B) => Values,
): FreshThing => ({
  values: valuesOf(body),
  etag,
})

export interface StepSendOptions {
  readonly ifMatch?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** Ids of what the plan has made, by the pointer of the entry. */
  readonly created: ReadonlyMap<string, Id>
  readonly secretOf: (name: string) => string
}

export interface StepAnswer {
  readonly body: unknown
  /** The answer is that of an earlier request with the same key. */
  readonly replayed: boolean
}

type Body<K extends StepOperation> = Operations[K] extends { body: unknown } ? BodyOf<Operations[K]> : never

/** Returns the answer, which for a room has its enrolment code, and for a webhook its secret. */
export function sendStep(client: Client, step: OrganisationStep, options: StepSendOptions): Promise<StepAnswer> {
  const call = { ifMatch: options.ifMatch, idempotencyKey: options.idempotencyKey }
  const id = step.id as number
  const textId = step.id as string
  /** The keys and their values were checked with the document, whose shapes are those of the bodies. */
  const body = <K extends StepOperation>(_: K) => bodyOf(step, options) as Body<K>
  switch (step.operation) {
    case 'regionsCreate':
      return client.regionsCreate({ body: body('regionsCreate') }, call)
    case 'regionsUpdate':
      return client.regionsUpdate({ id, body: body('regionsUpdate') }, call)
    case 'regionsDelete':
      return client.regionsDelete({ id }, call)
    case 'locationsCreate':
      return client.locationsCreate({ body: body('locationsCreate') }, call)
    case 'locationsUpdate':
      return client.locationsUpdate({ id, body: body('locationsUpdate') }, call)
    case 'locationsDelete':
      return client.locationsDelete({ id }, call)
    case 'roomsCreate':
      return client.roomsCreate({ body: body('roomsCreate') }, call)
    case 'roomsUpdate':
      return client.roomsUpdate({ id, body: body('roomsUpdate') }, call)
    case 'roomsAssignProfile':
      return client.roomsAssignProfile({ id, body: body('roomsAssignProfile') }, call)
    case 'roomsDelete':
      return client.roomsDelete({ id }, call)
    case 'profilesCreate':
      return client.profilesCreate({ body: withConfig(body('profilesCreate')) }, call)
    case 'profilesUpdate':
      return client.profilesUpdate({ id, body: body('profilesUpdate') }, call)
    case 'profilesDelete':
      return client.profilesDelete({ id }, call)
    case 'endpointsUpdate':
      return client.endpointsUpdate({ id: textId, body: body('endpointsUpdate') }, call)
    case 'gatewayDevicesCreate': {
      const input = { id: String(step.after.gateway), body: body('gatewayDevicesCreate') }
      return client.gatewayDevicesCreate(input, call)
    }
    case 'gatewayDevicesUpdate': {
      const input = { id: String(step.before.gateway), deviceId: textId, body: body('gatewayDevicesUpdate') }
      return client.gatewayDevicesUpdate(input, call)
    }
    case 'gatewayDevicesDelete': {
      const input = { id: String(step.before.gateway), deviceId: textId, unenrol: true }
      return client.gatewayDevicesDelete(input, call)
    }
    case 'usersCreate':
      return client.usersCreate({ body: body('usersCreate') }, call)
    case 'usersUpdate':
      return client.usersUpdate({ id: textId, body: body('usersUpdate') }, call)
    case 'incidentRulesUpdate':
      return client.incidentRulesUpdate({ rule: textId, body: body('incidentRulesUpdate') }, call)
    case 'silencesCreate':
      return client.silencesCreate({ body: body('silencesCreate') }, call)
    case 'silencesDelete':
      return client.silencesDelete({ id: textId }, call)
    case 'channelsCreate':
      return client.channelsCreate({ body: body('channelsCreate') }, call)
    case 'channelsUpdate':
      return client.channelsUpdate({ id: textId, body: body('channelsUpdate') }, call)
    case 'channelsDelete':
      return client.channelsDelete({ id: textId }, call)
  }
}

const withConfig = (body: Partial<Body<'profilesCreate'>>) => ({ config: {}, ...body }) as Body<'profilesCreate'>

/** Keys that an update must have, because it would clear them, or because it needs them. */
const alwaysSent: Partial<Record<StepOperation, readonly string[]>> = {
  regionsUpdate: ['name'],
  roomsUpdate: ['name', 'location'],
  profilesUpdate: ['name', 'description', 'config'],
}

/** Fields of the document that have another name in requests. */
const requestKeys: Readonly<Record<string, string>> = {
  region: 'regionId',
  location: 'locationId',
  room: 'roomId',
  profile: 'profileId',
  regions: 'regionIds',
  locations: 'locationIds',
}
/** Fields that no request takes. The gateway of a device is in the path. */
const notSent = new Set(['gateway', 'serial', 'reportedName'])

export function bodyOf(step: OrganisationStep, options: StepSendOptions): Record<string, unknown> {
  const changed = new Set(step.changes.map(({ field }) => field.split('.')[0]))
  const always = alwaysSent[step.operation] ?? []
  const isSent = (field: string) =>
    !notSent.has(field) && (step.id === undefined || changed.has(field) || always.includes(field))
  const body: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(step.after)) {
    if (!isSent(field)) continue
    if (field === 'disabled') body.state = value ? 'DISABLED' : 'ACTIVE'
    else if (field === 'place') body.place = placeOf(value, options)
    else body[requestKeys[field] ?? field] = sent(step.kind, field, value, options)
  }
  return body
}

function placeOf(place: ThingValue, options: StepSendOptions): Record<string, unknown> {
  if (place === 'all') return { all: true }
  const target = place as ThingRef
  return { [`${target.kind}Id`]: idOf(target, options) }
}

const idOf = (target: ThingRef, { created }: StepSendOptions): Id =>
  'id' in target ? target.id : (created.get(target.pointer) as Id)

/** A custom field can have any name, so only the kind of a field says what its value is. */
function sent(kind: Kind, field: string, value: ThingValue, options: StepSendOptions): unknown {
  if (value === null) return null
  switch (kindTable[kind].fields[field]) {
    case 'secret':
      return options.secretOf((value as EnvSecret).env)
    case 'reference':
      return idOf(value as ThingRef, options)
    case 'references':
      return (value as ThingRef[]).map((target) => idOf(target, options))
    case 'map':
      return Object.fromEntries(
        Object.entries(value as Values).map(([key, item]) => [
          key,
          isEnvSecret(item) ? options.secretOf(item.env) : item,
        ]),
      )
    default:
      return value
  }
}

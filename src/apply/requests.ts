// The requests of steps: how a thing is read again before its step, and what the step sends.
import type { Client } from '../client/client.ts'
import type { BodyOf } from '../contract/operation.ts'
import type { Operations } from '../contract/operations.ts'
import { isEnvSecret } from '../plan/compare.ts'
import type { EnvSecret } from '../plan/document.ts'
import { kindTable } from '../plan/kinds.ts'
import type { OrganisationStep } from '../plan/plan.ts'
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
  /** Endpoints of a room, or of a gateway device. */
  readonly endpointCount?: number
}

/** Reads the thing of a step again. Undefined if it is in a list without it; a thing that is read alone is a 404 then. */
export async function readAgain(client: Client, step: OrganisationStep): Promise<FreshThing | undefined> {
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
    case 'profile':
      return fresh(await client.profilesGet({ id: numberId }), (body) => profileFields(body, []))
    case 'endpoint':
      return fresh(await client.endpointsGet({ id: textId }), endpointValues)
    case 'gatewayDevice': {
      const gateway = String(step.before.gateway)
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
  readonly ifMatch: string | undefined
  /** Ids of what the plan has made, by the pointer of the entry. */
  readonly created: ReadonlyMap<string, Id>
  readonly secretOf: (name: string) => string
  readonly idempotencyKey?: string | undefined
}

type Body<K extends StepOperation> = Operations[K] extends { body: unknown } ? BodyOf<Operations[K]> : never

/** Returns the answer, which for a room has its enrolment code, and for a webhook its secret. */
export async function sendStep(client: Client, step: OrganisationStep, options: StepSendOptions): Promise<unknown> {
  const call = { ifMatch: options.ifMatch, idempotencyKey: options.idempotencyKey }
  const id = step.id as number
  const textId = step.id as string
  /** The keys and their values were checked with the document, whose shapes are those of the bodies. */
  const body = <K extends StepOperation>(_: K) => bodyOf(step, options) as Body<K>
  switch (step.operation) {
    case 'regionsCreate':
      return (await client.regionsCreate({ body: body('regionsCreate') }, call)).body
    case 'regionsUpdate':
      return (await client.regionsUpdate({ id, body: body('regionsUpdate') }, call)).body
    case 'regionsDelete':
      return (await client.regionsDelete({ id }, call)).body
    case 'locationsCreate':
      return (await client.locationsCreate({ body: body('locationsCreate') }, call)).body
    case 'locationsUpdate':
      return (await client.locationsUpdate({ id, body: body('locationsUpdate') }, call)).body
    case 'locationsDelete':
      return (await client.locationsDelete({ id }, call)).body
    case 'roomsCreate':
      return (await client.roomsCreate({ body: body('roomsCreate') }, call)).body
    case 'roomsUpdate':
      return (await client.roomsUpdate({ id, body: body('roomsUpdate') }, call)).body
    case 'roomsAssignProfile':
      return (await client.roomsAssignProfile({ id, body: body('roomsAssignProfile') }, call)).body
    case 'roomsDelete':
      return (await client.roomsDelete({ id }, call)).body
    case 'profilesCreate':
      return (await client.profilesCreate({ body: withConfig(body('profilesCreate')) }, call)).body
    case 'profilesUpdate':
      return (await client.profilesUpdate({ id, body: body('profilesUpdate') }, call)).body
    case 'profilesDelete':
      return (await client.profilesDelete({ id }, call)).body
    case 'endpointsUpdate':
      return (await client.endpointsUpdate({ id: textId, body: body('endpointsUpdate') }, call)).body
    case 'gatewayDevicesCreate': {
      const input = { id: String(step.after.gateway), body: body('gatewayDevicesCreate') }
      return (await client.gatewayDevicesCreate(input, call)).body
    }
    case 'gatewayDevicesUpdate': {
      const input = { id: String(step.before.gateway), deviceId: textId, body: body('gatewayDevicesUpdate') }
      return (await client.gatewayDevicesUpdate(input, call)).body
    }
    case 'gatewayDevicesDelete': {
      const input = { id: String(step.before.gateway), deviceId: textId, unenrol: true }
      return (await client.gatewayDevicesDelete(input, call)).body
    }
    case 'usersCreate':
      return (await client.usersCreate({ body: body('usersCreate') }, call)).body
    case 'usersUpdate':
      return (await client.usersUpdate({ id: textId, body: body('usersUpdate') }, call)).body
    case 'incidentRulesUpdate':
      return (await client.incidentRulesUpdate({ rule: textId, body: body('incidentRulesUpdate') }, call)).body
    case 'silencesCreate':
      return (await client.silencesCreate({ body: body('silencesCreate') }, call)).body
    case 'silencesDelete':
      return (await client.silencesDelete({ id: textId }, call)).body
    case 'channelsCreate':
      return (await client.channelsCreate({ body: body('channelsCreate') }, call)).body
    case 'channelsUpdate':
      return (await client.channelsUpdate({ id: textId, body: body('channelsUpdate') }, call)).body
    case 'channelsDelete':
      return (await client.channelsDelete({ id: textId }, call)).body
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

function bodyOf(step: OrganisationStep, options: StepSendOptions): Record<string, unknown> {
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

// Which devices a tool means: by place, room, model and kind, in words that people use.
import Type, { type Static } from 'typebox'
import type { Client } from '../../client/client.ts'
import { endpointKinds, modelOf } from '../../contract/device/models.ts'
import { endpointLabel } from '../../contract/fleet/endpoint-label.ts'
import {
  type BasicEndpoint,
  endpointStates,
  latestOfListed,
  sinceOfListed,
  stateOfListed,
} from '../../contract/fleet/endpoints.ts'
import { maxTargetValues } from '../../contract/jobs/job-request.ts'
import { OneOf } from '../../contract/shape.ts'
import { ToolRefusal } from '../tool.ts'
import { contains, endpointIdField, placeFields, roomIdField } from './fields.ts'

type Endpoint = Static<typeof BasicEndpoint>

export const deviceFilterFields = {
  ...placeFields,
  roomId: Type.Optional(roomIdField),
  kind: Type.Optional(OneOf(endpointKinds, 'Only devices of this kind.')),
  model: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'Only devices of this model: its code, or the beginning of its name. Bar means Bar, Bar 2 and Bar Pro.',
    }),
  ),
  state: Type.Optional(OneOf(endpointStates, 'Only devices in this state.')),
}

export const targetFields = {
  endpointIds: Type.Optional(
    Type.Array(endpointIdField, { minItems: 1, maxItems: maxTargetValues.endpointIds, description: 'These devices.' }),
  ),
  ...deviceFilterFields,
  all: Type.Optional(
    Type.Literal(true, { description: 'All devices of the organisation. Needed if nothing else limits the call.' }),
  ),
}
const TargetDevices = Type.Object(targetFields)
export type TargetDevices = Static<typeof TargetDevices>

export type WantedDevices = Omit<TargetDevices, 'all'> & { readonly search?: string }

export async function listDevices(client: Client, filter: WantedDevices): Promise<readonly Endpoint[]> {
  const { regionId, locationId } = filter
  const { body } = await client.endpointsBasicList({
    ...(regionId !== undefined && { regionId }),
    ...(locationId !== undefined && { locationId }),
  })
  const ids = filter.endpointIds && new Set(filter.endpointIds.map((id) => id.toLowerCase()))
  return body.endpoints.filter(
    (endpoint) =>
      (!ids || ids.has(endpoint.id)) &&
      (filter.roomId === undefined || endpoint.roomId === filter.roomId) &&
      (filter.kind === undefined || kindOf(endpoint) === filter.kind) &&
      (filter.state === undefined || stateOfListed(endpoint) === filter.state) &&
      (filter.model === undefined || isOfModel(endpoint, filter.model)) &&
      (filter.search === undefined || isFound(endpoint, filter.search)),
  )
}

/** The devices that a change would reach. A call that names nothing must say `all`. */
export async function targetedDevices(client: Client, { all, ...filter }: TargetDevices): Promise<readonly Endpoint[]> {
  if (all === undefined && Object.values(filter).every((value) => value === undefined)) {
    throw new ToolRefusal('Say which devices: a region, a location, a room, a kind, a model, endpointIds, or all.')
  }
  const devices = await listDevices(client, filter)
  if (devices.length === 0) throw new ToolRefusal('No devices match. find_devices shows which there are.')
  if (devices.length > maxTargetValues.endpointIds) {
    throw new ToolRefusal(
      `${devices.length} devices match, and one call changes at most ${maxTargetValues.endpointIds}. Name a location or a region.`,
    )
  }
  return devices
}

const kindOf = ({ model, kind }: Endpoint) => modelOf(model).kind ?? kind ?? 'OTHER'

function isOfModel({ model }: Endpoint, wanted: string): boolean {
  const text = wanted.trim().toLowerCase()
  const name = modelOf(model).name.toLowerCase()
  return model.toLowerCase() === text || name === text || name.startsWith(`${text} `)
}

const isFound = (endpoint: Endpoint, search: string): boolean =>
  [endpointLabel(endpoint), endpoint.serial, endpoint.roomName, endpoint.localIpAddress, endpoint.assetTag].some(
    (text) => contains(text, search),
  )

/** A device in a list, with what the API leaves out because other values say it. */
export const shownDevice = (endpoint: Endpoint) => ({
  id: endpoint.id,
  name: endpointLabel(endpoint),
  model: modelOf(endpoint.model).name,
  kind: kindOf(endpoint),
  serial: endpoint.serial,
  roomId: endpoint.roomId,
  roomName: endpoint.roomName,
  state: stateOfListed(endpoint),
  since: sinceOfListed(endpoint),
  power: endpoint.power,
  inCall: endpoint.inCallStatus === undefined ? undefined : endpoint.inCallStatus !== 'NONE',
  firmware: endpoint.firmwareVersion,
  latestFirmware: latestOfListed(endpoint),
  settings: endpoint.configState,
})

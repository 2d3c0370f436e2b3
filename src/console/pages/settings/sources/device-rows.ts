// The rows of the list of a source's devices: their states, the filter, and what can be decided about selected rows.
import type { CallInput } from '../../../../client/client.ts'
import { maxSourceDevicesPerRequest, type SourceDevice } from '../../../../contract/fleet/sources.ts'
import { includesAll, normalizeText, searchWords } from '../../../../contract/search-text.ts'

/** A device without a name at the source has its model, and its serial number or key. */
export const sourceDeviceName = ({ name, model, serial, key }: SourceDevice): string =>
  name ?? `${model} ${serial ?? key}`

export const deviceFilters = ['FOUND', 'ADOPTED', 'EXCLUDED', 'MISSING', 'PROBLEM'] as const
export type SourceDeviceFilter = (typeof deviceFilters)[number]

export const filterNames: Readonly<Record<SourceDeviceFilter, string>> = {
  FOUND: 'New',
  ADOPTED: 'In a room',
  EXCLUDED: 'Excluded',
  MISSING: 'Missing at the source',
  PROBLEM: 'With a problem',
}

/** The gateway could not read everything of it, or it is adopted and not connected. */
const hasProblem = ({ state, deviceState, refusedBecause, notUnderstood }: SourceDevice): boolean =>
  refusedBecause !== undefined ||
  (notUnderstood !== undefined && notUnderstood.length > 0) ||
  (state === 'ADOPTED' && deviceState !== 'CONNECTED')

const isShown: Readonly<Record<SourceDeviceFilter, (device: SourceDevice) => boolean>> = {
  FOUND: ({ state }) => state === 'FOUND',
  ADOPTED: ({ state }) => state === 'ADOPTED',
  EXCLUDED: ({ state }) => state === 'EXCLUDED',
  MISSING: ({ isMissing }) => isMissing,
  PROBLEM: hasProblem,
}

export function filterDevices(
  devices: readonly SourceDevice[],
  { q = '', state }: { readonly q?: string | undefined; readonly state?: string | undefined },
): readonly SourceDevice[] {
  const words = searchWords(q)
  const fits = deviceFilters.find((name) => name === state)
  return devices.filter(
    (device) =>
      (fits === undefined || isShown[fits](device)) &&
      (words.length === 0 || includesAll(normalizeText(textOf(device)), words)),
  )
}

const textOf = ({ name, model, manufacturer, serial, key, roomName, theirRoomName, topic }: SourceDevice): string =>
  [name, model, manufacturer, serial, key, roomName, theirRoomName, topic].filter(Boolean).join(' ')

export type DeviceDecision = CallInput<'sourceDevicesUpdate'>['body']['devices'][number]

/** An excluded device can be adopted too. A device that the source refuses, or no longer lists, cannot. */
export const canAdopt = ({ state, refusedBecause, isMissing }: SourceDevice): boolean =>
  state !== 'ADOPTED' && refusedBecause === undefined && !isMissing

/** The decisions about several devices. Devices for which a decision has no meaning are left out. */
export const decisions = {
  adopt: (devices: readonly SourceDevice[], roomId: number): DeviceDecision[] =>
    devices.filter(canAdopt).map(({ key }) => ({ key, state: 'ADOPTED', roomId })),
  adoptIntoLinkedRooms: (devices: readonly SourceDevice[]): DeviceDecision[] =>
    devices.flatMap((device) =>
      device.state === 'FOUND' && canAdopt(device) && device.linkedRoomId !== undefined
        ? [{ key: device.key, state: 'ADOPTED' as const, roomId: device.linkedRoomId }]
        : [],
    ),
  exclude: (devices: readonly SourceDevice[]): DeviceDecision[] =>
    devices.filter(({ state }) => state === 'FOUND').map(({ key }) => ({ key, state: 'EXCLUDED' })),
  takeBack: (devices: readonly SourceDevice[]): DeviceDecision[] =>
    devices.filter(({ state }) => state === 'EXCLUDED').map(({ key }) => ({ key, state: 'FOUND' })),
} as const

/** A request takes a limited number of decisions, and carries out all of them or none. */
export const inRequests = (all: readonly DeviceDecision[]): DeviceDecision[][] =>
  Array.from({ length: Math.ceil(all.length / maxSourceDevicesPerRequest) }, (_, i) =>
    all.slice(i * maxSourceDevicesPerRequest, (i + 1) * maxSourceDevicesPerRequest),
  )

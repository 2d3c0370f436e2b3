// Makes the answers about sources and their devices.
import { hash } from 'node:crypto'
import type { FoundDevice, Source, SourceDevice } from '../../../contract/fleet/sources.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import { isoTime } from '../../core/clock.ts'
import type { SourceTarget } from './fields.ts'
import type { ShownSource, SourceDeviceCount, SourceDeviceRow } from './store.ts'

export function sourceView(row: ShownSource, target: SourceTarget, counts: readonly SourceDeviceCount[]): Source {
  const { topics, mappings, ...settings } = target.settings
  return {
    id: row.id,
    type: row.type,
    gatewayId: row.gateway_id,
    ...(row.gateway_name !== null && { gatewayName: row.gateway_name }),
    name: row.name,
    url: row.url,
    ...settings,
    ...(row.type === 'neat-pulse' && { write: settings.write ?? false }),
    ...(topics && { topics: [...topics] }),
    ...(mappings && { mappings: [...mappings] }),
    ...(row.known_enrol_room_id !== null && { enrolIntoRoomId: row.known_enrol_room_id }),
    secrets: Object.keys(target.secrets),
    state: row.state,
    ...(row.reason !== null && { reason: row.reason }),
    since: isoTime(row.since),
    ...(row.reached_at !== null && { reachedAt: isoTime(row.reached_at) }),
    devices: {
      FOUND: sumOf(counts, ({ state }) => state === 'FOUND'),
      ADOPTED: sumOf(counts, ({ state }) => state === 'ADOPTED'),
      EXCLUDED: sumOf(counts, ({ state }) => state === 'EXCLUDED'),
      missing: sumOf(counts, ({ is_missing }) => is_missing === 1),
    },
    ...(row.content !== null && { content: JSON.parse(row.content) }),
  }
}

const sumOf = (counts: readonly SourceDeviceCount[], isCounted: (count: SourceDeviceCount) => boolean): number =>
  counts.filter(isCounted).reduce((sum, { devices }) => sum + Number(devices), 0)

/** The revision is the version of the source. What its gateway reports changes without it. */
export const sourceAnswer = (row: ShownSource, view: Source): VersionedAnswer<Source> =>
  new VersionedAnswer(row.revision, view, hash('sha1', JSON.stringify(view), 'base64url'))

interface DevicePlaces {
  /** The names of the rooms of the source, by their identifier. */
  readonly names: ReadonlyMap<string, string>
  /** The rooms here that are linked to them. */
  readonly links: ReadonlyMap<string, number>
}

export function deviceView(
  row: SourceDeviceRow,
  report: FoundDevice,
  { names, links }: DevicePlaces,
  lastMessage?: string | null,
): SourceDevice {
  const { theirRoomId } = report
  const theirRoomName = theirRoomId === undefined ? undefined : names.get(theirRoomId)
  const linkedRoomId = theirRoomId === undefined ? undefined : links.get(theirRoomId)
  return {
    ...report,
    ...(lastMessage && { lastMessage }),
    state: row.state,
    isMissing: row.is_missing === 1,
    ...(row.item_id !== null && { deviceId: row.item_id }),
    ...(row.item_state !== null && { deviceState: row.item_state }),
    ...(row.item_reason !== null && { reason: row.item_reason }),
    ...(row.known_endpoint_id !== null && { endpointId: row.known_endpoint_id }),
    ...(row.room_name !== null && row.room_id !== null && { roomId: row.room_id, roomName: row.room_name }),
    ...(theirRoomName !== undefined && { theirRoomName }),
    ...(linkedRoomId !== undefined && { linkedRoomId }),
    foundAt: isoTime(row.found_at),
  }
}

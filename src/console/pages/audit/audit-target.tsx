// Shows the target of an audit entry: its type, its name, and a link if it still exists.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useCallback } from 'react'
import { placedRoomName } from '../../../contract/fleet/room-name.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { operationQuery } from '../../api.ts'
import { inRoom, useNamedRooms } from '../../domain/fleet/room/room-names.ts'
import { type AuditLogEntry, type AuditTarget, targetKey } from './audit-entries.ts'

const typeNames: Readonly<Record<string, string>> = {
  room: 'Room',
  roomNote: 'Note in room',
  endpoint: 'Device',
  location: 'Location',
  region: 'Region',
  profile: 'Profile',
  key: 'API key',
  user: 'Person',
  organisation: 'Organisation',
  incident: 'Incident',
  job: 'Job',
  incidentRule: 'Rule',
  silence: 'Silence',
  channel: 'Channel',
  gatewayDevice: 'Device of a gateway',
  source: 'Source',
  view: 'View',
  sharedView: 'Shared view',
  audit: '',
}

export type TargetNameOf = (target: AuditTarget) => string

/** The name of the target when the entry was written; rooms and devices that still exist are named with their place of today. */
export function useTargetNames(): TargetNameOf {
  const rooms = useNamedRooms()
  const roomsOfDevices = useQuery({ ...operationQuery('endpointsBasicList'), select: roomIds }).data
  return useCallback(
    ({ type, id, name }) => {
      const text = name || id
      if (type === 'room') return placedRoomName(text, rooms?.[Number(id)]?.location)
      const roomId = type === 'endpoint' ? roomsOfDevices?.[id] : undefined
      const room = roomId === undefined ? undefined : rooms?.[roomId]
      return room ? inRoom(text, room) : text
    },
    [rooms, roomsOfDevices],
  )
}

/** An object and not a map: equal objects of two answers are the same object, so a change of a state renders nothing again. */
const roomIds = ({
  body,
}: {
  readonly body: ResponseOf<Operations['endpointsBasicList']>
}): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(body.endpoints.map(({ id, roomId }) => [id, roomId]))

interface TargetProps {
  readonly target: AuditTarget
  readonly deleted: ReadonlySet<string>
  /** A room note is linked to its room, whose id is in the details. */
  readonly details?: AuditLogEntry['details'] | undefined
  readonly nameOf: TargetNameOf
}

export function TargetName({ target, deleted, details, nameOf }: TargetProps) {
  const typeName = typeNames[target.type] ?? target.type
  const name = nameOf(target)
  return (
    <>
      {typeName && (
        <Text span fz="sm" c="dimmed">
          {typeName}{' '}
        </Text>
      )}
      {deleted.has(targetKey(target)) ? name : targetLink(target, details, deleted, name)}
    </>
  )
}

function targetLink(
  target: AuditTarget,
  details: AuditLogEntry['details'] | undefined,
  deleted: ReadonlySet<string>,
  name: string,
): ReactNode {
  const { type, id } = target
  if (type === 'room') return <RoomLink id={id} name={name} />
  if (type === 'endpoint') {
    return (
      <Link to="/devices/$endpointId" params={{ endpointId: id }}>
        {name}
      </Link>
    )
  }
  if (type === 'profile') {
    return (
      <Link to="/profiles/$profileId" params={{ profileId: id }}>
        {name}
      </Link>
    )
  }
  if (type === 'location') {
    return (
      <Link to="/sites/locations/$locationId" params={{ locationId: id }}>
        {name}
      </Link>
    )
  }
  if (type === 'region') {
    return (
      <Link to="/sites/regions/$regionId" params={{ regionId: id }}>
        {name}
      </Link>
    )
  }
  if (type === 'incident') {
    return (
      <Link to="/incidents/$incidentId" params={{ incidentId: id }}>
        {name}
      </Link>
    )
  }
  if (type === 'job') {
    return (
      <Link to="/jobs/$jobId" params={{ jobId: id }}>
        {name}
      </Link>
    )
  }
  if (type === 'user') return <Link to="/settings">{name}</Link>
  if (type === 'key') {
    return (
      <Link to="/settings" search={{ tab: 'keys' }}>
        {name}
      </Link>
    )
  }
  if (type === 'source') {
    return (
      <Link to="/settings" search={{ tab: 'sources', source: id }}>
        {name}
      </Link>
    )
  }
  if (type === 'roomNote') {
    const room = details?.after?.roomId ?? details?.before?.roomId
    if (room !== undefined && !deleted.has(targetKey({ type: 'room', id: String(room) })))
      return <RoomLink id={String(room)} name={name} />
  }
  return name
}

const RoomLink = ({ id, name }: { readonly id: string; readonly name: string }) => (
  <Link to="/rooms/$roomId" params={{ roomId: id }}>
    {name}
  </Link>
)

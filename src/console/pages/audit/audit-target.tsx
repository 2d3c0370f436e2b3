// Shows the target of an audit entry: its type, its name, and a link if it still exists.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { placedRoomName } from '../../../contract/fleet/room-name.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { operationQuery } from '../../api.ts'
import { inRoom, useNamedRooms } from '../../domain/fleet/room/room-names.ts'
import type { AuditLogEntry, AuditTarget } from './audit-entries.ts'

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
  recurringJob: 'Recurring job',
  incidentRule: 'Rule',
  silence: 'Silence',
  channel: 'Channel',
  gatewayDevice: 'Device of a gateway',
  source: 'Source',
  view: 'View',
  sharedView: 'Shared view',
  audit: '',
}

/** The present names of the things in entries, and which of them exist. */
export interface Targets {
  /** The name when the entry was written; rooms and devices that still exist are named with their place of today. */
  readonly nameOf: (target: AuditTarget) => string
  /** False for what has been deleted, or is hidden from the viewer; true until that is known. */
  readonly exists: (target: Pick<AuditTarget, 'type' | 'id'>) => boolean
}

export function useTargets(): Targets {
  const rooms = useNamedRooms()
  const roomsOfDevices = useQuery({ ...operationQuery('endpointsBasicList'), select: roomIds }).data
  const locations = useQuery(operationQuery('locationsList')).data?.body.locations
  const regions = useQuery(operationQuery('regionsList')).data?.body.regions
  const profiles = useQuery(operationQuery('profilesList')).data?.body.profiles
  return useMemo(() => {
    const existing: Readonly<Record<string, ReadonlySet<string> | undefined>> = {
      room: rooms && new Set(Object.keys(rooms)),
      endpoint: roomsOfDevices && new Set(Object.keys(roomsOfDevices)),
      location: idsOf(locations),
      region: idsOf(regions),
      profile: idsOf(profiles),
    }
    return {
      nameOf: ({ type, id, name }) => {
        const text = name || id
        if (type === 'room') return placedRoomName(text, rooms?.[Number(id)]?.location)
        const roomId = type === 'endpoint' ? roomsOfDevices?.[id] : undefined
        const room = roomId === undefined ? undefined : rooms?.[roomId]
        return room ? inRoom(text, room) : text
      },
      exists: ({ type, id }) => existing[type]?.has(id) ?? true,
    }
  }, [rooms, roomsOfDevices, locations, regions, profiles])
}

const idsOf = (things: readonly { readonly id: number }[] | undefined): ReadonlySet<string> | undefined =>
  things && new Set(things.map(({ id }) => String(id)))

/** An object and not a map: equal objects of two answers are the same object, so a change of a state renders nothing again. */
const roomIds = ({
  body,
}: {
  readonly body: ResponseOf<Operations['endpointsBasicList']>
}): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(body.endpoints.map(({ id, roomId }) => [id, roomId]))

interface TargetProps {
  readonly target: AuditTarget
  /** A room note is linked to its room, whose id is in the details. */
  readonly details?: AuditLogEntry['details'] | undefined
  readonly targets: Targets
}

export function TargetName({ target, details, targets }: TargetProps) {
  const typeName = typeNames[target.type] ?? target.type
  const name = targets.nameOf(target)
  return (
    <>
      {typeName && (
        <Text span fz="sm" c="dimmed">
          {typeName}{' '}
        </Text>
      )}
      {targets.exists(target) ? targetLink(target, details, targets, name) : name}
    </>
  )
}

function targetLink(
  target: AuditTarget,
  details: AuditLogEntry['details'] | undefined,
  { exists }: Targets,
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
  if (type === 'recurringJob') {
    return (
      <Link to="/jobs/recurring/$recurringJobId" params={{ recurringJobId: id }}>
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
    if (room !== undefined && exists({ type: 'room', id: String(room) }))
      return <RoomLink id={String(room)} name={name} />
  }
  return name
}

const RoomLink = ({ id, name }: { readonly id: string; readonly name: string }) => (
  <Link to="/rooms/$roomId" params={{ roomId: id }}>
    {name}
  </Link>
)

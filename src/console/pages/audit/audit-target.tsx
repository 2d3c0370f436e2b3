// Shows the target of an audit entry: its type, its name, and a link if it still exists.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
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

interface TargetProps {
  readonly target: AuditTarget
  readonly deleted: ReadonlySet<string>
  /** A room note is linked to its room, whose id is in the details. */
  readonly details?: AuditLogEntry['details'] | undefined
}

export function TargetName({ target, deleted, details }: TargetProps) {
  const typeName = typeNames[target.type] ?? target.type
  const name = target.name || target.id
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
  if (type === 'location' || type === 'region') {
    return (
      <Link to="/rooms" search={{ [type]: id }}>
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

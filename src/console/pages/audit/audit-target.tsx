// What an entry is about: its kind, its name, and the way to it where it still exists.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Entry, nameOf, type Target } from './audit-entries.ts'

const kinds: Readonly<Record<string, string>> = {
  room: 'Room',
  roomNote: 'Note in room',
  endpoint: 'Device',
  location: 'Location',
  region: 'Region',
  profile: 'Profile',
  key: 'API key',
  user: 'User',
  organisation: 'Organisation',
  audit: '',
}

interface TargetProps {
  readonly target: Target
  readonly gone: ReadonlySet<string>
  /** The entry, where the target alone does not say where to go. */
  readonly details?: Entry['details'] | undefined
}

export function TargetName({ target, gone, details }: TargetProps) {
  const kind = kinds[target.type] ?? target.type
  const name = target.name || target.id
  return (
    <>
      {kind && (
        <Text span fz="sm" c="dimmed">
          {kind}{' '}
        </Text>
      )}
      {gone.has(nameOf(target)) ? name : linkTo(target, details, gone, name)}
    </>
  )
}

function linkTo(
  target: Target,
  details: Entry['details'] | undefined,
  gone: ReadonlySet<string>,
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
  if (type === 'key' || type === 'user') return <Link to="/settings">{name}</Link>
  if (type === 'roomNote') {
    const room = details?.after?.roomId ?? details?.before?.roomId
    if (room !== undefined && !gone.has(nameOf({ type: 'room', id: String(room) })))
      return <RoomLink id={String(room)} name={name} />
  }
  return name
}

const RoomLink = ({ id, name }: { readonly id: string; readonly name: string }) => (
  <Link to="/rooms/$roomId" params={{ roomId: id }}>
    {name}
  </Link>
)

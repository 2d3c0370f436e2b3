// Links, names and breadcrumbs of rooms. The location distinguishes rooms of the same name.
import { Breadcrumbs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { placedRoomName } from '../../../../contract/fleet/room-name.ts'
import { operationQuery } from '../../../api.ts'
import type { RoomDetails } from '../room/room.ts'
import classes from './room-link.module.css'

interface RoomReference {
  readonly roomId: number | undefined
  readonly roomName: string | undefined
}

/** The location is undefined until the room has been read; its name is shown before that. */
const useLocationOf = (roomId: number | undefined) =>
  useQuery({ ...operationQuery('roomsGet', { id: roomId ?? 0 }), enabled: roomId !== undefined }).data?.body.location

export function RoomLink({ roomId, roomName }: RoomReference) {
  const location = useLocationOf(roomId)
  if (roomId === undefined) return <>Unassigned</>
  return (
    <span>
      <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }}>
        {roomName}
      </Link>
      {location && (
        <Text span c="dimmed" fz="inherit">
          {' '}
          · {location.name}
        </Text>
      )}
    </span>
  )
}

/** The room without a link, for dialogs, where a link would lead away from the question. */
export function RoomName({ roomId, roomName }: RoomReference) {
  const location = useLocationOf(roomId)
  if (roomId === undefined) return <>unassigned</>
  return <>{placedRoomName(roomName ?? `Room ${roomId}`, location?.name)}</>
}

interface SiteBreadcrumbsProps {
  readonly label: string
  readonly location: RoomDetails['location'] | undefined
  /** Further breadcrumbs, if any. */
  readonly children?: ReactNode
}

/** Keeps the router from marking a breadcrumb as the current page. */
const exact = { exact: true }

/** The breadcrumbs lead to the list of rooms and to the pages of the region and the location. */
export function SiteBreadcrumbs({ label, location, children }: SiteBreadcrumbsProps) {
  const region = location?.region
  return (
    <nav aria-label={label}>
      <Breadcrumbs
        fz="sm"
        separator="›"
        separatorMargin={8}
        style={{ flexWrap: 'wrap' }}
        classNames={{ breadcrumb: classes.step }}
      >
        <Link to="/rooms" activeOptions={exact}>
          Rooms
        </Link>
        {region && (
          <Link to="/sites/regions/$regionId" params={{ regionId: String(region.id) }}>
            {region.name}
          </Link>
        )}
        {location && (
          <Link to="/sites/locations/$locationId" params={{ locationId: String(location.id) }}>
            {location.name}
          </Link>
        )}
        {children}
      </Breadcrumbs>
    </nav>
  )
}

export function DeviceBreadcrumbs({ roomId, roomName }: RoomReference) {
  const location = useLocationOf(roomId)
  if (roomId === undefined) return null
  return (
    <SiteBreadcrumbs label="Breadcrumb" location={location}>
      <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }}>
        {roomName}
      </Link>
    </SiteBreadcrumbs>
  )
}

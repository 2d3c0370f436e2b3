// Lists everything that the command palette finds: pages, rooms, devices, views, sites and profiles.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { modelOf } from '../../contract/device/models.ts'
import { normalizeText } from '../../contract/search-text.ts'
import { operationQuery } from '../api.ts'
import { deviceName, type ListedDevice } from '../domain/fleet/device/device.ts'
import { macText } from '../domain/fleet/device/network-address.ts'
import { restartsIn } from '../domain/fleet/device/restarts.ts'
import { useRoomNames } from '../domain/fleet/room/room-names.ts'
import { restartingRoomsOf, stateDuringRestart } from '../domain/fleet/room/room-restarts.ts'
import { RoomStateLabel } from '../domain/fleet/room/room-state.tsx'
import { pageNames, searchOf, useViews } from '../domain/people/view/saved-view.ts'
import {
  AuditIcon,
  DeviceIcon,
  OverviewIcon,
  ProfileIcon,
  RoomIcon,
  SettingsIcon,
  SiteIcon,
} from '../parts/page/icons.tsx'
import { useNavigationItems } from './navigation.ts'

export interface PaletteEntry {
  readonly key: string
  readonly name: string
  /** The normalized text that the search looks in. */
  readonly searchText: string
  /** A function, so that only the few entries that are found are rendered, out of tens of thousands. */
  readonly detail: () => ReactNode
  readonly icon: ReactNode
  readonly go: () => void
}

const icons = {
  room: <RoomIcon />,
  device: <DeviceIcon />,
  site: <SiteIcon />,
  profile: <ProfileIcon />,
  view: <AuditIcon />,
  wall: <OverviewIcon />,
  keys: <SettingsIcon />,
}

/** Pages, rooms, devices, views, sites and profiles, and the list of keys. */
export function usePaletteEntries(showKeys: () => void): PaletteEntry[] {
  const navigate = useNavigate()
  const navigationItems = useNavigationItems()
  const rooms = useRoomEntries()
  const devices = useDeviceEntries()
  const sites = useSiteEntries()
  const profiles = useQuery(operationQuery('profilesList')).data?.body.profiles
  const { views } = useViews()
  return useMemo(
    () => [
      ...navigationItems.map(({ to, name, icon: Icon }) => ({
        key: to,
        name,
        searchText: normalizeText(name),
        detail: () => 'Page',
        icon: <Icon />,
        go: () => void navigate({ to }),
      })),
      {
        key: '/wall',
        name: 'Wall display',
        searchText: normalizeText('Wall display screen dashboard'),
        detail: () => 'Page',
        icon: icons.wall,
        go: () => void navigate({ to: '/wall' }),
      },
      {
        key: 'keys',
        name: 'Keyboard shortcuts',
        searchText: normalizeText('Keyboard shortcuts keys help'),
        detail: () => 'Help',
        icon: icons.keys,
        go: showKeys,
      },
      ...views.map((view) => ({
        key: `view ${view.id}`,
        name: view.name,
        searchText: normalizeText(`${view.name} view`),
        detail: () => `View of ${pageNames[view.page].toLowerCase()}`,
        icon: icons.view,
        go: () => void navigate({ to: `/${view.page}`, search: searchOf(view) as never }),
      })),
      ...sites,
      ...(profiles ?? []).map(({ id, name }) => ({
        key: `profile ${id}`,
        name,
        searchText: normalizeText(`${name} profile`),
        detail: () => 'Profile',
        icon: icons.profile,
        go: () => void navigate({ to: '/profiles/$profileId', params: { profileId: String(id) } }),
      })),
      ...rooms,
      ...devices,
    ],
    [navigationItems, views, sites, profiles, rooms, devices, navigate, showKeys],
  )
}

function useRoomEntries(): PaletteEntry[] {
  const navigate = useNavigate()
  const rooms = useQuery(operationQuery('roomsList')).data?.body.rooms
  const endpoints = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints
  const operations = useQuery(operationQuery('operationsList')).data?.body.operations
  // Until restarts are known, no state is shown: a room that is being restarted must not look offline.
  const restarting = useMemo(
    () => operations && endpoints && restartingRoomsOf(endpoints, restartsIn(operations)),
    [operations, endpoints],
  )
  return useMemo(
    () =>
      (rooms ?? []).map((room) => ({
        key: `room ${room.id}`,
        name: room.name,
        searchText: normalizeText(`${room.name} ${room.location?.name ?? ''}`),
        detail: () => (
          <>
            {room.location?.name} {restarting && <ListedRoomState room={room} restart={restarting.get(room.id)} />}
          </>
        ),
        icon: icons.room,
        go: () => void navigate({ to: '/rooms/$roomId', params: { roomId: String(room.id) } }),
      })),
    [rooms, restarting, navigate],
  )
}

interface ListedRoomStateProps {
  readonly room: Parameters<typeof stateDuringRestart>[0]
  readonly restart: { readonly sinceMs: number; readonly count: number } | undefined
}

const ListedRoomState = ({ room, restart }: ListedRoomStateProps) => (
  <RoomStateLabel state={stateDuringRestart(room, restart?.count ?? 0)} restartingSinceMs={restart?.sinceMs} />
)

function useDeviceEntries(): PaletteEntry[] {
  const navigate = useNavigate()
  const endpoints = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints
  const roomNameOf = useRoomNames()
  return useMemo(
    () =>
      (endpoints ?? []).map((endpoint) => ({
        key: endpoint.id,
        name: deviceName(endpoint),
        searchText: normalizeText(
          [
            ...[deviceName(endpoint), modelOf(endpoint.model).name, endpoint.serial, endpoint.roomName],
            ...[endpoint.localIpAddress, ...macSpellings(endpoint)],
          ].join(' '),
        ),
        detail: () =>
          [
            endpoint.roomId === undefined ? 'Unassigned' : roomNameOf(endpoint.roomId, endpoint.roomName),
            ...[endpoint.serial, endpoint.localIpAddress],
          ]
            .filter(Boolean)
            .join(' · '),
        icon: icons.device,
        go: () => void navigate({ to: '/devices/$endpointId', params: { endpointId: endpoint.id } }),
      })),
    [endpoints, roomNameOf, navigate],
  )
}

/** A MAC address is found in each of its usual notations: ac:de:48:00:11:22, ac-de-48-00-11-22, acde48001122. */
const macSpellings = ({ macAddresses = [] }: ListedDevice): string[] =>
  macAddresses.map(macText).flatMap((mac) => [mac, mac.replaceAll(':', '-'), mac.replaceAll(':', '')])

function useSiteEntries(): PaletteEntry[] {
  const navigate = useNavigate()
  const regions = useQuery(operationQuery('regionsList')).data?.body.regions
  const locations = useQuery(operationQuery('locationsList')).data?.body.locations
  return useMemo(
    () => [
      ...(regions ?? []).map(({ id, name }) => ({
        key: `region ${id}`,
        name,
        searchText: normalizeText(`${name} region`),
        detail: () => 'Region',
        icon: icons.site,
        go: () => void navigate({ to: '/sites/regions/$regionId', params: { regionId: String(id) } }),
      })),
      ...(locations ?? []).map(({ id, name }) => ({
        key: `location ${id}`,
        name,
        searchText: normalizeText(`${name} location`),
        detail: () => 'Location',
        icon: icons.site,
        go: () => void navigate({ to: '/sites/locations/$locationId', params: { locationId: String(id) } }),
      })),
    ],
    [regions, locations, navigate],
  )
}

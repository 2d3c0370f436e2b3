// The pages that the navigation bar and the command palette lead to.
import type { ComponentType } from 'react'
import {
  AuditIcon,
  DeviceIcon,
  OverviewIcon,
  ProfileIcon,
  RoomIcon,
  SettingsIcon,
  SiteIcon,
} from '../parts/page/icons.tsx'
import { usePermissions } from '../session.ts'

interface NavigationItem {
  readonly to: '/' | '/rooms' | '/devices' | '/sites' | '/profiles' | '/audit' | '/settings'
  readonly name: string
  readonly icon: ComponentType
}

const allItems: readonly NavigationItem[] = [
  { to: '/', name: 'Overview', icon: OverviewIcon },
  { to: '/rooms', name: 'Rooms', icon: RoomIcon },
  { to: '/devices', name: 'Devices', icon: DeviceIcon },
  { to: '/sites', name: 'Sites', icon: SiteIcon },
  { to: '/profiles', name: 'Profiles', icon: ProfileIcon },
  { to: '/audit', name: 'Audit', icon: AuditIcon },
  { to: '/settings', name: 'Settings', icon: SettingsIcon },
]
const itemsWithoutAudit = allItems.filter(({ to }) => to !== '/audit')

/** Returns the pages that the session may open; the list is the same object at every call. */
export const useNavigationItems = (): readonly NavigationItem[] =>
  usePermissions().audit ? allItems : itemsWithoutAudit

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

interface NavigationItem {
  readonly to: '/' | '/rooms' | '/devices' | '/sites' | '/profiles' | '/audit' | '/settings'
  readonly name: string
  readonly icon: ComponentType
}

export const navigationItems: readonly NavigationItem[] = [
  { to: '/', name: 'Overview', icon: OverviewIcon },
  { to: '/rooms', name: 'Rooms', icon: RoomIcon },
  { to: '/devices', name: 'Devices', icon: DeviceIcon },
  { to: '/sites', name: 'Sites', icon: SiteIcon },
  { to: '/profiles', name: 'Profiles', icon: ProfileIcon },
  { to: '/audit', name: 'Audit', icon: AuditIcon },
  { to: '/settings', name: 'Settings', icon: SettingsIcon },
]

// The pages that the navigation bar and the command palette lead to.
import type { ComponentType } from 'react'
import { useOpenIncidentCount } from '../domain/incidents/incident-list.ts'
import {
  AuditIcon,
  DeviceIcon,
  InsightIcon,
  JobIcon,
  OverviewIcon,
  ProfileIcon,
  RoomIcon,
  SettingsIcon,
  SiteIcon,
  WarnIcon,
} from '../parts/page/icons.tsx'
import { usePermissions } from '../session.ts'

interface NavigationItem {
  readonly to:
    | '/'
    | '/incidents'
    | '/rooms'
    | '/devices'
    | '/sites'
    | '/profiles'
    | '/jobs'
    | '/insights'
    | '/audit'
    | '/settings'
  readonly name: string
  readonly icon: ComponentType
  /** Returns the number that the item shows; undefined or 0 shows none. */
  readonly useCount?: () => number | undefined
}

const allItems: readonly NavigationItem[] = [
  { to: '/', name: 'Overview', icon: OverviewIcon },
  { to: '/incidents', name: 'Incidents', icon: WarnIcon, useCount: useOpenIncidentCount },
  { to: '/rooms', name: 'Rooms', icon: RoomIcon },
  { to: '/devices', name: 'Devices', icon: DeviceIcon },
  { to: '/sites', name: 'Sites', icon: SiteIcon },
  { to: '/profiles', name: 'Profiles', icon: ProfileIcon },
  { to: '/jobs', name: 'Jobs', icon: JobIcon },
  { to: '/insights', name: 'Insights', icon: InsightIcon },
  { to: '/audit', name: 'Audit', icon: AuditIcon },
  { to: '/settings', name: 'Settings', icon: SettingsIcon },
]
const itemsWithoutAudit = allItems.filter(({ to }) => to !== '/audit')

/** Returns the pages that the session may open; the list is the same object at every call. */
export const useNavigationItems = (): readonly NavigationItem[] =>
  usePermissions().auditLog ? allItems : itemsWithoutAudit

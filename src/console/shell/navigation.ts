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
  /** The key that opens the page after g. */
  readonly key: string
  readonly name: string
  readonly icon: ComponentType
  /** Returns the number that the item shows; undefined or 0 shows none. */
  readonly useCount?: () => number | undefined
}

const allItems: readonly NavigationItem[] = [
  { to: '/', key: 'o', name: 'Overview', icon: OverviewIcon },
  { to: '/incidents', key: 'i', name: 'Incidents', icon: WarnIcon, useCount: useOpenIncidentCount },
  { to: '/rooms', key: 'r', name: 'Rooms', icon: RoomIcon },
  { to: '/devices', key: 'd', name: 'Devices', icon: DeviceIcon },
  { to: '/sites', key: 's', name: 'Sites', icon: SiteIcon },
  { to: '/profiles', key: 'p', name: 'Profiles', icon: ProfileIcon },
  { to: '/jobs', key: 'j', name: 'Jobs', icon: JobIcon },
  { to: '/insights', key: 'n', name: 'Insights', icon: InsightIcon },
  { to: '/audit', key: 'a', name: 'Audit', icon: AuditIcon },
  { to: '/settings', key: 't', name: 'Settings', icon: SettingsIcon },
]
const itemsWithoutAudit = allItems.filter(({ to }) => to !== '/audit')

/** Returns the pages that the session may open; the list is the same object at every call. */
export const useNavigationItems = (): readonly NavigationItem[] =>
  usePermissions().auditLog ? allItems : itemsWithoutAudit

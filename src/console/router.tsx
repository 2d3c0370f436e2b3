// Every page and its address. A page is loaded when somebody goes there.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { NotFound } from './shell/not-found.tsx'
import { Shell } from './shell/shell.tsx'

/** What of an address is text; the rest is left out, so that a mistyped address shows everything. */
const texts =
  <const N extends string>(...names: N[]) =>
  (search: Record<string, unknown>): { readonly [K in N]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return typeof value === 'string' ? [[name, value]] : []
      }),
    ) as { readonly [K in N]?: string }

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
})
const rooms = createRoute({
  getParentRoute: () => root,
  path: '/rooms',
  validateSearch: texts('q', 'region', 'location', 'state', 'air', 'people', 'sort'),
  component: lazyRouteComponent(() => import('./pages/rooms/rooms-page.tsx'), 'RoomsPage'),
})
const room = createRoute({
  getParentRoute: () => root,
  path: '/rooms/$roomId',
  validateSearch: texts('span', 'sensor'),
  component: lazyRouteComponent(() => import('./pages/room/room-page.tsx'), 'RoomPage'),
})
const devices = createRoute({
  getParentRoute: () => root,
  path: '/devices',
  validateSearch: texts('q', 'model', 'firmware', 'connected', 'sort'),
  component: lazyRouteComponent(() => import('./pages/devices/devices-page.tsx'), 'DevicesPage'),
})
const device = createRoute({
  getParentRoute: () => root,
  path: '/devices/$endpointId',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./pages/device/device-page.tsx'), 'DevicePage'),
})
const sites = createRoute({
  getParentRoute: () => root,
  path: '/sites',
  component: lazyRouteComponent(() => import('./pages/sites/sites-page.tsx'), 'SitesPage'),
})
const profiles = createRoute({
  getParentRoute: () => root,
  path: '/profiles',
  component: lazyRouteComponent(() => import('./pages/profiles/profiles-page.tsx'), 'ProfilesPage'),
})
const profile = createRoute({
  getParentRoute: () => root,
  path: '/profiles/$profileId',
  component: lazyRouteComponent(() => import('./pages/profiles/profile-page.tsx'), 'ProfilePage'),
})
const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: texts('from', 'to', 'category', 'type', 'q'),
  component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
})
const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([overview, rooms, room, devices, device, sites, profiles, profile, audit, settings]),
  // As people type and share them: the router would put quotes around what looks like a number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(Object.entries(search).filter(([, value]) => value !== undefined)).toString()
    return text && `?${text}`
  },
  // The server knows /rooms and not /Rooms: what it calls unknown must not look like a page.
  caseSensitive: true,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

// Every page and its path. The code of a page is loaded when it is first opened.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { pathUnderBase } from './base-path.ts'
import { forgetFrom } from './parts/page/kept-state.ts'
import { PageSkeleton } from './parts/page/skeleton.tsx'
import { loadCode } from './parts/recovery/load-code.ts'
import { auditParams, deviceParams, incidentParams, jobParams, roomParams } from './parts/table/list-params.ts'
import { Frame } from './shell/frame.tsx'
import { NotFound } from './shell/not-found.tsx'

/** Keeps the named search parameters that are text and drops all others, so that a mistyped address filters nothing. */
const textParams =
  <const N extends string>(...names: N[]) =>
  (search: Record<string, unknown>): { readonly [K in N]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return typeof value === 'string' ? [[name, value]] : []
      }),
    ) as { readonly [K in N]?: string }

/** The saved view that a list shows, and its columns. */
const viewParams = ['view', 'columns'] as const

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound })

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/overview/overview-page.tsx')), 'OverviewPage'),
})
const rooms = createRoute({
  getParentRoute: () => root,
  path: '/rooms',
  validateSearch: textParams(...roomParams, 'sort', 'group', ...viewParams),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/rooms/rooms-page.tsx')), 'RoomsPage'),
})
const room = createRoute({
  getParentRoute: () => root,
  path: '/rooms/$roomId',
  validateSearch: textParams('span', 'from', 'to', 'sensor', 'beside'),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/room/room-page.tsx')), 'RoomPage'),
})
const incidents = createRoute({
  getParentRoute: () => root,
  path: '/incidents',
  validateSearch: textParams(...incidentParams, 'sort', 'tab', ...viewParams),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/incidents/incidents-page.tsx')), 'IncidentsPage'),
})
const incident = createRoute({
  getParentRoute: () => root,
  path: '/incidents/$incidentId',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/incidents/incident-page.tsx')), 'IncidentPage'),
})
const devices = createRoute({
  getParentRoute: () => root,
  path: '/devices',
  validateSearch: textParams(...deviceParams, 'sort', 'group', ...viewParams),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/devices/devices-page.tsx')), 'DevicesPage'),
})
const device = createRoute({
  getParentRoute: () => root,
  path: '/devices/$endpointId',
  validateSearch: textParams('tab'),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/device/device-page.tsx')), 'DevicePage'),
})
const sites = createRoute({
  getParentRoute: () => root,
  path: '/sites',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/sites/sites-page.tsx')), 'SitesPage'),
})
const location = createRoute({
  getParentRoute: () => root,
  path: '/sites/locations/$locationId',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/sites/location-page.tsx')), 'LocationPage'),
})
const region = createRoute({
  getParentRoute: () => root,
  path: '/sites/regions/$regionId',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/sites/region-page.tsx')), 'RegionPage'),
})
const importRooms = createRoute({
  getParentRoute: () => root,
  path: '/sites/import',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/import/import-page.tsx')), 'ImportPage'),
})
const profiles = createRoute({
  getParentRoute: () => root,
  path: '/profiles',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/profiles/profiles-page.tsx')), 'ProfilesPage'),
})
const profile = createRoute({
  getParentRoute: () => root,
  path: '/profiles/$profileId',
  validateSearch: textParams('tab'),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/profiles/profile-page.tsx')), 'ProfilePage'),
})
const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: textParams(...jobParams, 'tab', ...viewParams),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/jobs/jobs-page.tsx')), 'JobsPage'),
})
const newJob = createRoute({
  getParentRoute: () => root,
  path: '/jobs/new',
  validateSearch: textParams('from', 'recurring'),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/jobs/new/new-job-page.tsx')), 'NewJobPage'),
})
const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$jobId',
  validateSearch: textParams('state', 'stage', 'q'),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/jobs/job-page.tsx')), 'JobPage'),
})
const recurringJob = createRoute({
  getParentRoute: () => root,
  path: '/jobs/recurring/$recurringJobId',
  component: lazyRouteComponent(
    () => loadCode(() => import('./pages/jobs/recurring/recurring-job-page.tsx')),
    'RecurringJobPage',
  ),
})
const editRecurringJob = createRoute({
  getParentRoute: () => root,
  path: '/jobs/recurring/$recurringJobId/edit',
  component: lazyRouteComponent(
    () => loadCode(() => import('./pages/jobs/new/new-job-page.tsx')),
    'EditRecurringJobPage',
  ),
})
const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: textParams('from', 'to', ...auditParams, ...viewParams),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/audit/audit-page.tsx')), 'AuditPage'),
})
const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: textParams('tab', 'channel', 'gateway', 'source', 'view', 'q', 'state', 'sort'),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/settings/settings-page.tsx')), 'SettingsPage'),
})
const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/account/account-page.tsx')), 'AccountPage'),
})

const insights = createRoute({
  getParentRoute: () => root,
  path: '/insights',
  validateSearch: textParams(
    ...(['tab', 'month', 'from', 'to', 'region', 'location', 'tag', 'hours', 'rooms', 'behind', 'save'] as const),
  ),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/insights/insights-page.tsx')), 'InsightsPage'),
})

const wall = createRoute({
  getParentRoute: () => root,
  path: '/wall',
  validateSearch: textParams('region'),
  component: lazyRouteComponent(() => loadCode(() => import('./pages/wall/wall-page.tsx')), 'WallPage'),
})

/** A page that loads sooner replaces the one before without a flash; later, the page before would look like an answer to the click. */
const skeletonAfterMs = 30

export const router = createRouter({
  basepath: pathUnderBase('/'),
  routeTree: root.addChildren([
    ...[
      overview,
      incidents,
      incident,
      rooms,
      room,
      devices,
      device,
      sites,
      location,
      region,
      importRooms,
      profiles,
      profile,
      jobs,
      newJob,
      job,
      recurringJob,
      editRecurringJob,
      insights,
      audit,
      settings,
      account,
      wall,
    ],
  ]),
  // Plain query strings: by default the router would put quotes around text that looks like a number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(Object.entries(search).filter(([, value]) => value !== undefined)).toString()
    return text && `?${text}`
  },
  // The server answers 404 to /Rooms, so the router must not show a page for it either.
  caseSensitive: true,
  defaultPreload: 'intent',
  defaultPendingComponent: PageSkeleton,
  defaultPendingMs: skeletonAfterMs,
  defaultPendingMinMs: 0,
  scrollRestoration: true,
})

router.history.subscribe(({ location, action }) => {
  if (action.type === 'PUSH') forgetFrom(location.state.__TSR_index)
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

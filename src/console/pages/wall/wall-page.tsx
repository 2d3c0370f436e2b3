// The wall page is for a screen that hangs in a room: open incidents, the worst first, and bars by region, in large type, without navigation.
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { type RoomTableRow, useRoomRows } from '../../domain/fleet/room/room-rows.ts'
import { type ListedRegion, unassigned, useSites } from '../../domain/fleet/site/sites.ts'
import { compareWorstFirst, isSnoozed, type ListedIncident } from '../../domain/incidents/incident.ts'
import { openIncidentsQuery } from '../../domain/incidents/incident-list.ts'
import { useConnectionLost } from '../../parts/live/connection-lost.ts'
import { lastHeardMs } from '../../parts/live/live-state.ts'
import { useNow } from '../../parts/text/now.ts'
import { ageText, clockTime } from '../../parts/text/time.tsx'
import { useSession } from '../../session.ts'
import classes from './wall.module.css'
import { WallBoundary } from './wall-boundary.tsx'
import { RegionBarsPanel, WallIncidents } from './wall-panels.tsx'

const route = getRouteApi('/wall')

/** The server sends something every 15 seconds. A screen that heard nothing for longer shows nothing, because old values look current. */
const maxSilenceMs = 45_000

export function WallPage() {
  const now = useNow(1000)
  const lostSinceMs = useConnectionLost()
  const isStale = lostSinceMs !== undefined || now - lastHeardMs() > maxSilenceMs
  useEffect(() => {
    document.title = 'Wall · Roomkeeper'
  }, [])
  return (
    <main id="main" className={classes.wall} data-stale={isStale || undefined}>
      {isStale ? (
        <StaleNotice title="No connection to the server" now={now} />
      ) : (
        <WallBoundary notice={<StaleNotice title="Can’t read from the server" now={now} />}>
          <WallContent now={now} />
        </WallBoundary>
      )}
    </main>
  )
}

const StaleNotice = ({ title, now }: { readonly title: string; readonly now: number }) => (
  <div className={classes.stale} role="alert">
    <h1>{title}</h1>
    <p>
      Last update {clockTime(lastHeardMs())}
      <span aria-hidden="true"> ({ageText(lastHeardMs(), now)} ago)</span>
    </p>
  </div>
)

function WallContent({ now }: { readonly now: number }) {
  const { region: wanted } = route.useSearch()
  const { org } = useSession()
  const { regions } = useSites()
  const { rows } = useRoomRows()
  const incidents = useSuspenseQuery(openIncidentsQuery).data
  const region = useMemo(() => findRegion(regions, wanted), [regions, wanted])
  const isInRegion = useMemo(() => regionTest(region), [region])
  const shownRows = useMemo(() => rows.filter(isInRegion), [rows, isInRegion])
  const shownIncidents = useMemo(
    () => incidents.filter((incident) => isAboutRegion(incident, region)),
    [incidents, region],
  )
  const open = shownIncidents.filter((incident) => !isSnoozed(incident, now)).sort(compareWorstFirst)
  return (
    <>
      <header className={classes.header}>
        <h1>{region === 'none' ? 'No region' : (region?.name ?? org.name)}</h1>
        <p className={classes.updated}>
          <span className={classes.clock}>{clockTime(now).slice(0, 5)}</span> Updated {ageText(lastHeardMs(), now)} ago
        </p>
      </header>
      {wanted !== undefined && region === undefined && <p role="alert">No region “{wanted}”. Showing all regions.</p>}
      <div className={classes.columns}>
        <WallIncidents incidents={open} snoozedCount={shownIncidents.length - open.length} rows={rows} now={now} />
        <RegionBarsPanel rows={shownRows} />
      </div>
    </>
  )
}

type WallRegion = ListedRegion | 'none' | undefined

/** The address names a region by its id or its name; undefined means all regions. */
function findRegion(regions: readonly ListedRegion[], wanted: string | undefined): WallRegion {
  if (wanted === undefined) return undefined
  if (wanted === unassigned) return 'none'
  const name = wanted.toLowerCase()
  return regions.find(({ id }) => String(id) === wanted) ?? regions.find((one) => one.name.toLowerCase() === name)
}

function regionTest(region: WallRegion): (row: RoomTableRow) => boolean {
  if (region === undefined) return () => true
  return (row) => (region === 'none' ? row.region === undefined : row.region?.id === region.id)
}

const isAboutRegion = ({ regionIds }: ListedIncident, region: WallRegion): boolean => {
  if (region === undefined) return true
  return region === 'none' ? regionIds.length === 0 : regionIds.includes(region.id)
}

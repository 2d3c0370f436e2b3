// The two parts of the wall: incidents, the worst first, and rooms by region.
import { useMemo, useState } from 'react'
import { durationText } from '../../../contract/duration-text.ts'
import { longestOf, RegionBar } from '../../domain/fleet/room/region-bars.tsx'
import { type RegionStates, regionStates } from '../../domain/fleet/room/region-states.ts'
import type { RoomTableRow } from '../../domain/fleet/room/room-rows.ts'
import { assigneeText, incidentDurationMs, type ListedIncident } from '../../domain/incidents/incident.ts'
import { placeBesideTitle } from '../../domain/incidents/incident-place.ts'
import { useRecoveryText } from '../../domain/incidents/recovery.ts'
import { SeverityLabel } from '../../domain/incidents/severity-label.tsx'
import { plural } from '../../parts/text/words.ts'
import { FittingList } from './fitting-list.tsx'
import classes from './wall.module.css'

interface WallIncidentsProps {
  readonly incidents: readonly ListedIncident[]
  readonly snoozedCount: number
  readonly rows: readonly RoomTableRow[]
  readonly now: number
}

export function WallIncidents({ incidents, snoozedCount, rows, now }: WallIncidentsProps) {
  const roomById = useMemo(() => new Map(rows.map((row) => [row.id, row])), [rows])
  const recoveryOf = useRecoveryText(now)
  const [shownCount, setShownCount] = useState(0)
  return (
    <section aria-label="Incidents" className={classes.panel}>
      <h2>{headingOf(incidents, snoozedCount, shownCount)}</h2>
      <FittingList onFit={setShownCount}>
        {incidents.map((incident) => (
          <li key={incident.id} className={classes.incident} data-severity={incident.severity}>
            <span className={classes.severity}>
              <SeverityLabel severity={incident.severity} />
            </span>
            <span className={classes.title}>{incident.title}</span>
            <span className={classes.duration}>{durationText(incidentDurationMs(incident, now))}</span>
            <span className={classes.place}>
              {[placeBesideTitle(incident, roomById), assigneeText(incident), recoveryOf(incident)]
                .filter(Boolean)
                .join(' · ')}
            </span>
          </li>
        ))}
      </FittingList>
    </section>
  )
}

function headingOf(incidents: readonly ListedIncident[], snoozedCount: number, shownCount: number): string {
  const criticalCount = incidents.filter(({ severity }) => severity === 'CRITICAL').length
  const hiddenCount = incidents.length - shownCount
  return [
    incidents.length === 0 ? 'No open incidents' : plural(incidents.length, 'open incident'),
    ...(criticalCount > 0 ? [`${criticalCount.toLocaleString('en-GB')} critical`] : []),
    ...(snoozedCount > 0 ? [`${snoozedCount.toLocaleString('en-GB')} snoozed`] : []),
    ...(hiddenCount > 0 ? [`${hiddenCount.toLocaleString('en-GB')} not shown`] : []),
  ].join(', ')
}

/** A region without trouble needs no bar. */
export function RegionBarsPanel({ rows }: { readonly rows: readonly RoomTableRow[] }) {
  const regions = useMemo(() => regionStates(rows), [rows])
  const [shownCount, setShownCount] = useState(0)
  const troubled = regions.filter(({ counts, total }) => counts.HEALTHY < total)
  const calm = regions.filter(({ counts, total }) => counts.HEALTHY === total)
  const hiddenCount = troubled.length - shownCount
  return (
    <section aria-label="Rooms by region" className={classes.panel}>
      <h2>Rooms{hiddenCount > 0 && `, ${plural(hiddenCount, 'region')} not shown`}</h2>
      <p className={classes.calm}>{calmText(calm, regions.length)}</p>
      <FittingList onFit={setShownCount}>
        {troubled.map((region) => (
          <RegionBar key={region.filterValue} region={region} longest={longestOf(troubled)} withLinks={false} />
        ))}
      </FittingList>
    </section>
  )
}

/** "All 28 rooms are healthy", or "5 of 8 regions are healthy". */
function calmText(calm: readonly RegionStates[], regionCount: number): string {
  if (calm.length < regionCount) {
    return calm.length === 0
      ? ''
      : `${calm.length} of ${regionCount} regions ${calm.length === 1 ? 'is' : 'are'} healthy`
  }
  const count = calm.reduce((sum, { total }) => sum + total, 0)
  if (count === 0) return 'No rooms with devices'
  return count === 1 ? '1 room is healthy' : `All ${count.toLocaleString('en-GB')} rooms are healthy`
}

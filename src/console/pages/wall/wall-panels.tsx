// The two parts of the wall: incidents, the worst first, and rooms by region.
import { useMemo, useState } from 'react'
import { durationText } from '../../../contract/duration-text.ts'
import { longestOf, RegionBar } from '../../domain/fleet/room/region-bars.tsx'
import { regionStates } from '../../domain/fleet/room/region-states.ts'
import type { RoomTableRow } from '../../domain/fleet/room/room-rows.ts'
import { handlerName, incidentDurationMs, type ListedIncident } from '../../domain/incidents/incident.ts'
import { incidentPlace } from '../../domain/incidents/incident-place.ts'
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
              {[placeOf(incident, roomById), handlerName(incident)].filter(Boolean).join(' · ')}
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

function placeOf(incident: ListedIncident, roomById: ReadonlyMap<number, RoomTableRow>): string {
  const place = incidentPlace(incident, (id) => roomById.get(id)?.name)
  const [first, second] = incident.roomIds
  if (second !== undefined) return `${place}, ${incident.openSubjectCount.toLocaleString('en-GB')} affected`
  const location = first === undefined ? undefined : roomById.get(first)?.location?.name
  return [place, location].filter(Boolean).join(' · ')
}

export function RegionBarsPanel({ rows }: { readonly rows: readonly RoomTableRow[] }) {
  const regions = useMemo(() => regionStates(rows), [rows])
  const [shownCount, setShownCount] = useState(0)
  const hiddenCount = regions.length - shownCount
  return (
    <section aria-label="Rooms by region" className={classes.panel}>
      <h2>Rooms{hiddenCount > 0 && `, ${plural(hiddenCount, 'region')} not shown`}</h2>
      <FittingList onFit={setShownCount}>
        {regions.map((region) => (
          <RegionBar key={region.filterValue} region={region} longest={longestOf(regions)} withLinks={false} />
        ))}
      </FittingList>
    </section>
  )
}

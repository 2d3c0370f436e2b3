// The two parts of the wall: incidents, the longest first, and rooms by region.
import { useMemo } from 'react'
import { handlerName, incidentDurationMs, type ListedIncident } from '../../domain/incident/incident.ts'
import { incidentPlace } from '../../domain/incident/incident-place.ts'
import { SeverityLabel } from '../../domain/incident/severity-label.tsx'
import { RegionBars } from '../../domain/room/region-bars.tsx'
import { regionStates } from '../../domain/room/region-states.ts'
import type { RoomTableRow } from '../../domain/room/room-rows.ts'
import { durationText } from '../../parts/text/duration.ts'
import { plural } from '../../parts/text/words.ts'
import classes from './wall.module.css'

/** More lines than this do not fit a screen in large type. */
const maxShown = 10

interface WallIncidentsProps {
  readonly incidents: readonly ListedIncident[]
  readonly snoozedCount: number
  readonly rows: readonly RoomTableRow[]
  readonly now: number
}

export function WallIncidents({ incidents, snoozedCount, rows, now }: WallIncidentsProps) {
  const roomById = useMemo(() => new Map(rows.map((row) => [row.id, row])), [rows])
  return (
    <section aria-label="Incidents" className={classes.panel}>
      <h2>{headingOf(incidents, snoozedCount)}</h2>
      <ol className={classes.incidents}>
        {fittingIncidents(incidents).map((incident) => (
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
      </ol>
      {incidents.length > maxShown && <p className={classes.more}>+ {incidents.length - maxShown} more</p>}
    </section>
  )
}

function headingOf(incidents: readonly ListedIncident[], snoozedCount: number): string {
  const criticalCount = incidents.filter(isCritical).length
  return [
    incidents.length === 0 ? 'No open incidents' : plural(incidents.length, 'open incident'),
    ...(criticalCount > 0 ? [`${criticalCount.toLocaleString('en-GB')} critical`] : []),
    ...(snoozedCount > 0 ? [`${snoozedCount.toLocaleString('en-GB')} snoozed`] : []),
  ].join(', ')
}

const isCritical = ({ severity }: ListedIncident) => severity === 'CRITICAL'

/** The longest incidents in their order. A short critical one takes the place of the shortest others. */
function fittingIncidents(incidents: readonly ListedIncident[]): readonly ListedIncident[] {
  if (incidents.length <= maxShown) return incidents
  const critical = incidents.filter(isCritical).slice(0, maxShown)
  const others = incidents.filter((one) => !isCritical(one)).slice(0, maxShown - critical.length)
  const shown = new Set([...critical, ...others])
  return incidents.filter((one) => shown.has(one))
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
  return (
    <section aria-label="Rooms by region" className={classes.panel}>
      <h2>Rooms</h2>
      <RegionBars regions={regions} withLinks={false} />
    </section>
  )
}

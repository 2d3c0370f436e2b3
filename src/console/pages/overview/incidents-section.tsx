// Lists the ten worst incidents that need work: by severity, then by duration.
import { Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { durationText } from '../../../contract/duration-text.ts'
import type { RoomTableRow } from '../../domain/fleet/room/room-rows.ts'
import {
  assigneeText,
  compareWorstFirst,
  incidentDurationMs,
  isSnoozed,
  type ListedIncident,
} from '../../domain/incidents/incident.ts'
import { openIncidentsQuery } from '../../domain/incidents/incident-list.ts'
import { placeBesideTitle } from '../../domain/incidents/incident-place.ts'
import { useRecoveryText } from '../../domain/incidents/recovery.ts'
import { SeverityLabel } from '../../domain/incidents/severity-label.tsx'
import { CheckIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import { useNow } from '../../parts/text/now.ts'
import classes from './overview.module.css'

const maxShown = 10

export function IncidentsSection({ rows }: { readonly rows: readonly RoomTableRow[] }) {
  const incidents = useSuspenseQuery(openIncidentsQuery).data
  const now = useNow()
  const worst = useMemo(
    () => incidents.filter((incident) => !isSnoozed(incident, now)).sort(compareWorstFirst),
    [incidents, now],
  )
  const recoveryOf = useRecoveryText(now)
  const roomById = useMemo(() => new Map(rows.map((row) => [row.id, row])), [rows])
  return (
    <Section
      title="Worst incidents"
      actions={
        <Link to="/incidents" className={classes.number}>
          View all ({worst.length.toLocaleString('en-GB')})
        </Link>
      }
    >
      {worst.length === 0 ? (
        <NoIncidents snoozedCount={incidents.length} isCalm={rows.every(isFine)} />
      ) : (
        <ol className={classes.list}>
          {worst.slice(0, maxShown).map((incident) => (
            <IncidentItem
              key={incident.id}
              incident={incident}
              now={now}
              facts={[placeBesideTitle(incident, roomById), assigneeText(incident), recoveryOf(incident)]}
            />
          ))}
        </ol>
      )}
    </Section>
  )
}

interface NoIncidentsProps {
  readonly snoozedCount: number
  /** Whether all rooms are healthy. A problem opens an incident only after some minutes. */
  readonly isCalm: boolean
}

const NoIncidents = ({ snoozedCount, isCalm }: NoIncidentsProps) => (
  <div className={classes.noIncidents}>
    {snoozedCount > 0 ? (
      <>
        <Text fw={600}>Nothing needs work</Text>
        <Link to="/incidents" search={{ state: 'snoozed' }}>
          {snoozedCount.toLocaleString('en-GB')} snoozed
        </Link>
      </>
    ) : (
      <>
        <Text fw={600}>
          <CheckIcon /> No open incidents
        </Text>
        {isCalm && (
          <Text fz="sm" c="dimmed">
            Everything is running.
          </Text>
        )}
      </>
    )}
  </div>
)

interface IncidentItemProps {
  readonly incident: ListedIncident
  /** Empty ones are left out. */
  readonly facts: readonly (string | undefined)[]
  readonly now: number
}

const IncidentItem = ({ incident, facts, now }: IncidentItemProps) => (
  <li className={classes.incident}>
    <SeverityLabel severity={incident.severity} />
    <div className={classes.truncated}>
      <Link to="/incidents/$incidentId" params={{ incidentId: incident.id }} className={classes.name}>
        {incident.title}
      </Link>
      <Text fz="sm" c="dimmed">
        {facts.filter(Boolean).join(' · ')}
      </Text>
    </div>
    <Text span fz="sm" className={classes.duration}>
      {durationText(incidentDurationMs(incident, now))}
    </Text>
  </li>
)

const isFine = ({ state }: RoomTableRow): boolean => state === 'HEALTHY' || state === 'EMPTY'

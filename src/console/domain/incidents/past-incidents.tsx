// The incidents of a device or a place that have ended.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { durationText } from '../../../contract/duration-text.ts'
import { Section } from '../../parts/page/page.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { incidentDurationMs } from './incident.ts'
import { stateName } from './incident-state.ts'
import classes from './open-incidents.module.css'
import { type IncidentsOf, pastDays, usePastIncidentsOf } from './place-incidents.ts'
import { SeverityLabel } from './severity-label.tsx'

/** The page of a device that flaps must not become endless. */
const maxShown = 10

interface PastIncidentsProps {
  readonly of: IncidentsOf
  readonly zone: string
}

export function PastIncidents({ of, zone }: PastIncidentsProps) {
  const incidents = usePastIncidentsOf(of)
  if (!incidents) return null
  const omitted = incidents.length - maxShown
  return (
    <Section title={`Past incidents, last ${pastDays} days`}>
      {incidents.length === 0 && (
        <Text fz="sm" c="dimmed">
          None
        </Text>
      )}
      <ul className={classes.incidents}>
        {incidents.slice(0, maxShown).map((incident) => (
          <li key={incident.id} className={classes.past}>
            <SeverityLabel severity={incident.severity} isBadge={false} />
            <div className={classes.text}>
              <Link to="/incidents/$incidentId" params={{ incidentId: incident.id }} className={classes.title}>
                {incident.title}
              </Link>
              <Text fz="sm" c="dimmed">
                <DateTime at={incident.openedAt} zone={zone} /> · {stateName(incident.state)} after{' '}
                {durationText(incidentDurationMs(incident, Date.parse(incident.updatedAt)))}
              </Text>
            </div>
          </li>
        ))}
      </ul>
      {omitted > 0 && (
        <Text fz="sm" c="dimmed" mt="xs">
          {plural(omitted, 'older incident')} not shown
        </Text>
      )}
    </Section>
  )
}

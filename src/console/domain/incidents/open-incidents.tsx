// The open incidents of a device or a place, with who has them, the latest note and the actions of the work list.
import { Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { durationText } from '../../../contract/duration-text.ts'
import { Section } from '../../parts/page/page.tsx'
import { useNow } from '../../parts/text/now.ts'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import { assigneeText, incidentDurationMs, type ListedIncident, remarkText } from './incident.ts'
import { stateName } from './incident-state.ts'
import { LatestNote } from './latest-note.tsx'
import classes from './open-incidents.module.css'
import { type IncidentsOf, useOpenIncidentsOf } from './place-incidents.ts'
import { useRecoveryText } from './recovery.ts'
import { SeverityLabel } from './severity-label.tsx'
import { IncidentDialogs, useIncidentTasks } from './work/incident-dialogs.tsx'
import type { StartIncidentTask } from './work/incident-tasks.ts'
import { useCanRestart } from './work/restartable.ts'
import { RowActions } from './work/row-actions.tsx'

/** A region can have hundreds, which would push its rooms off the screen; the work list has all of them. */
const maxShown = 5

interface OpenIncidentsProps {
  readonly of: IncidentsOf
  /** A link to all of them, for a place that can have many. */
  readonly all?: ReactNode
}

/** Renders nothing without an open incident. */
export function OpenIncidents({ of, all }: OpenIncidentsProps) {
  const { operate } = usePermissions()
  const incidents = useOpenIncidentsOf(of) ?? []
  const tasks = useIncidentTasks()
  const canRestart = useCanRestart({ enabled: operate && incidents.length > 0 })
  return (
    <>
      {incidents.length > 0 && (
        <Section title={plural(incidents.length, 'open incident')} actions={incidents.length > 1 && all}>
          <ul className={classes.incidents}>
            {(all ? incidents.slice(0, maxShown) : incidents).map((incident) => (
              <OpenIncident
                key={incident.id}
                incident={incident}
                start={operate ? tasks.start : undefined}
                canRestart={canRestart(incident)}
              />
            ))}
          </ul>
          {all && incidents.length > maxShown && (
            <Text fz="sm" c="dimmed" mt="xs">
              {plural(incidents.length - maxShown, 'more incident')} not shown
            </Text>
          )}
        </Section>
      )}
      {/* Kept mounted: an action can resolve the last incident, and its dialog then closes itself. */}
      <IncidentDialogs {...tasks} />
    </>
  )
}

interface OpenIncidentProps {
  readonly incident: ListedIncident
  /** Undefined for sessions that may not operate. */
  readonly start: StartIncidentTask | undefined
  readonly canRestart: boolean
}

function OpenIncident({ incident, start, canRestart }: OpenIncidentProps) {
  const now = useNow()
  const recoveryOf = useRecoveryText(now)
  const isPhone = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false })
  const facts = [stateName(incident.state), assigneeText(incident), recoveryOf(incident), remarkText(incident, now)]
  return (
    <li className={classes.incident} data-severity={incident.severity}>
      <SeverityLabel severity={incident.severity} />
      <div className={classes.text}>
        <Link to="/incidents/$incidentId" params={{ incidentId: incident.id }} className={classes.title}>
          {incident.title}
        </Link>
        <Text fz="sm" c="dimmed">
          {facts.filter(Boolean).join(' · ')}
        </Text>
        <Text fz="sm" className={classes.note}>
          <LatestNote incident={incident} />
        </Text>
      </div>
      <Text span fz="sm" className={classes.duration}>
        {durationText(incidentDurationMs(incident, now))}
      </Text>
      {start && <RowActions incident={incident} start={start} canRestart={canRestart} isMenu={isPhone} />}
    </li>
  )
}

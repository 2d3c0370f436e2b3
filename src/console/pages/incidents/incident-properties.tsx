// The facts about an incident: its rule, cause, times, and who has it.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { durationText } from '../../../contract/duration-text.ts'
import { ruleNames } from '../../../contract/incidents/rule-names.ts'
import { capitalised } from '../../../contract/words.ts'
import { operationQuery } from '../../api.ts'
import { RoomLink } from '../../domain/fleet/site/room-link.tsx'
import {
  causeName,
  type IncidentDetails,
  incidentDurationMs,
  isSnoozed,
  snoozeText,
} from '../../domain/incidents/incident.ts'
import { causeLevelNames } from '../../domain/incidents/incident-state.ts'
import { DefinitionList } from '../../parts/text/definition-list.tsx'
import { useNow } from '../../parts/text/now.ts'
import { DateTime } from '../../parts/text/time.tsx'
import { usePermissions } from '../../session.ts'

export function IncidentProperties({ incident }: { readonly incident: IncidentDetails }) {
  const now = useNow()
  const { everywhere } = usePermissions()
  const { rule, cause, since, openedAt, resolvedAt, occurrences, flapping, snoozedUntil } = incident
  return (
    <DefinitionList
      definitions={[
        ['Rule', ruleNames[rule]],
        ['Source', rule === 'source.failing' && everywhere && <SourceLinks key="source" incident={incident} />],
        [causeLevelNames[cause.level], <CauseLink key="cause" cause={cause} />],
        ['Since', <DateTime key="since" at={since} />],
        ['Opened', <DateTime key="opened" at={openedAt} />],
        ['Resolved', resolvedAt && <DateTime key="resolved" at={resolvedAt} />],
        ['Duration', durationText(incidentDurationMs(incident, now))],
        ['Occurrences', occurrences > 1 && `${occurrences}${flapping ? ' (flapping; messages paused)' : ''}`],
        ['Assignee', incident.assignee?.name],
        ['Acknowledged by', incident.acknowledgedBy?.name],
        ['Snoozed', isSnoozed(incident, now) && capitalised(snoozeText(snoozedUntil ?? ''))],
        ['Merged into', incident.mergedInto && <IncidentLink id={incident.mergedInto} />],
        ['Split from', incident.splitFrom && <IncidentLink id={incident.splitFrom} />],
      ]}
    />
  )
}

/** The title of the incident has the name of the source, and its subject is the gateway. */
function SourceLinks({ incident: { title, subjects } }: { readonly incident: IncidentDetails }) {
  const sources = useQuery(operationQuery('sourcesList')).data?.body.sources ?? []
  const ofGateway = sources.filter(({ gatewayId }) => subjects.some(({ id }) => id === gatewayId))
  const named = ofGateway.filter(({ name }) => title.includes(name))
  return (named.length > 0 ? named : ofGateway).map(({ id, name }) => (
    <div key={id}>
      <Link to="/settings" search={{ tab: 'sources', source: id }}>
        {name}
      </Link>
    </div>
  ))
}

const IncidentLink = ({ id }: { readonly id: string }) => (
  <Link to="/incidents/$incidentId" params={{ incidentId: id }}>
    Incident {id}
  </Link>
)

function CauseLink({ cause }: Pick<IncidentDetails, 'cause'>): ReactNode {
  const { level, id } = cause
  const name = causeName(cause)
  const { manage } = usePermissions()
  if (level === 'CHANNEL' && manage) {
    return (
      <Link to="/settings" search={{ tab: 'notifications', channel: id }}>
        {name}
      </Link>
    )
  }
  if (level === 'ENDPOINT') {
    return (
      <Link to="/devices/$endpointId" params={{ endpointId: id }}>
        {name}
      </Link>
    )
  }
  if (level === 'ROOM') return <RoomLink roomId={Number(id)} roomName={name} />
  if (level === 'LOCATION') {
    return (
      <Link to="/sites/locations/$locationId" params={{ locationId: id }}>
        {name}
      </Link>
    )
  }
  if (level === 'PROFILE') {
    return (
      <Link to="/profiles/$profileId" params={{ profileId: id }}>
        {name}
      </Link>
    )
  }
  if (level === 'JOB') {
    return (
      <Link to="/jobs/$jobId" params={{ jobId: id }}>
        {name}
      </Link>
    )
  }
  return name
}

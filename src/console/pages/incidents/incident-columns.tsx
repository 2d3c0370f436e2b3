// Defines the columns of the work list.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { durationText } from '../../../contract/duration-text.ts'
import { incidentDurationMs, isOpenIncident, type ListedIncident, remarkText } from '../../domain/incidents/incident.ts'
import { stateName, stateText } from '../../domain/incidents/incident-state.ts'
import { LatestNote } from '../../domain/incidents/latest-note.tsx'
import { SeverityLabel, severityName } from '../../domain/incidents/severity-label.tsx'
import { weekCountText } from '../../domain/incidents/week-count.ts'
import type { StartIncidentTask } from '../../domain/incidents/work/incident-tasks.ts'
import { RowActions } from '../../domain/incidents/work/row-actions.tsx'
import { type Column, idColumn } from '../../parts/table/column.ts'
import { DateTime, shortTime } from '../../parts/text/time.tsx'
import { incidentSortKeys, type WorkListRow } from './incident-rows.ts'
import classes from './incidents.module.css'

interface ColumnOptions {
  readonly now: number
  readonly isCards: boolean
  /** Whether the list has incidents that have ended. */
  readonly hasEnded: boolean
  /** Undefined for sessions that may not operate. */
  readonly start: StartIncidentTask | undefined
  readonly canRestart: (incident: ListedIncident) => boolean
  /** Says how many devices of an outage are online again. */
  readonly recoveryOf: (incident: ListedIncident) => string | undefined
}

export function workListColumns(options: ColumnOptions): Column<WorkListRow>[] {
  const { now, isCards, hasEnded, start, canRestart, recoveryOf } = options
  const actions: Column<WorkListRow>[] = start
    ? [
        {
          id: 'actions',
          title: 'Actions',
          width: '148px',
          isControl: true,
          inCard: 'corner',
          cell: ({ incident }) => (
            <RowActions incident={incident} start={start} canRestart={canRestart(incident)} isMenu={isCards} />
          ),
        },
      ]
    : []
  return [
    {
      id: 'severity',
      title: 'Severity',
      width: 'minmax(132px, 0.8fr)',
      sortValue: incidentSortKeys.severity,
      text: ({ incident }) => `${severityName(incident.severity)}, ${stateName(incident.state)}`,
      cell: ({ incident }) => (
        <TwoLines isOne={isCards} below={stateText(incident)}>
          <SeverityLabel severity={incident.severity} isBadge={isOpenIncident(incident)} />
        </TwoLines>
      ),
    },
    idColumn(({ incident }) => incident.id),
    {
      id: 'place',
      title: 'Room',
      width: 'minmax(170px, 1.8fr)',
      sortValue: incidentSortKeys.place,
      text: ({ place, site }) => [place, site].filter(Boolean).join(' · '),
      cell: (row) => (
        <TwoLines isOne={isCards} below={row.site}>
          <PlaceName row={row} />
        </TwoLines>
      ),
    },
    {
      id: 'title',
      inCard: 'heading',
      title: 'Incident',
      width: 'minmax(140px, 3fr)',
      sortValue: incidentSortKeys.title,
      text: ({ incident }) => incident.title,
      cell: ({ incident }) => {
        const remark = [recoveryOf(incident), remarkText(incident, now)].filter(Boolean).join(' · ')
        if (remark === '') return <TitleLink incident={incident} hasTwoLines />
        return (
          <TwoLines isOne={isCards} below={remark}>
            <TitleLink incident={incident} hasTwoLines={isCards} />
          </TwoLines>
        )
      },
    },
    {
      id: 'duration',
      title: 'Duration',
      width: '88px',
      isNumber: true,
      sortValue: incidentSortKeys.duration,
      text: ({ incident }) => durationText(incidentDurationMs(incident, now)),
      cell: ({ incident }) => durationText(incidentDurationMs(incident, now)),
    },
    ...(hasEnded ? [endedColumn] : []),
    {
      id: 'week',
      title: 'Times in 7 days',
      width: '108px',
      ...(!isCards && { from: hasEnded ? 'wide' : 'medium' }),
      isNumber: true,
      sortValue: incidentSortKeys.week,
      text: ({ weekCount }) => (weekCount ? weekCountText(weekCount) : ''),
      cell: ({ weekCount }) => weekCount && weekCountText(weekCount),
    },
    ...(isCards ? [] : [noteColumn]),
    {
      id: 'assignee',
      title: 'Assignee',
      width: 'minmax(72px, 1fr)',
      sortValue: incidentSortKeys.assignee,
      text: ({ incident }) => incident.assignee?.name ?? '',
      cell: ({ incident: { assignee } }) => assignee && <span title={assignee.name}>{assignee.name}</span>,
    },
    ...actions,
  ]
}

const endedColumn: Column<WorkListRow> = {
  id: 'ended',
  title: 'Ended',
  width: '116px',
  sortValue: incidentSortKeys.ended,
  text: ({ incident: { resolvedAt } }) => (resolvedAt === undefined ? '' : shortTime(Date.parse(resolvedAt))),
  cell: ({ incident: { resolvedAt } }) => resolvedAt !== undefined && <DateTime at={resolvedAt} />,
}

const noteColumn: Column<WorkListRow> = {
  id: 'note',
  title: 'Latest note',
  width: 'minmax(110px, 2fr)',
  from: 'medium',
  isPrinted: false,
  cell: ({ incident }) => <LatestNote incident={incident} />,
}

interface TwoLinesProps {
  readonly below: string
  /** Cards have both in one line. */
  readonly isOne: boolean
  readonly children: ReactNode
}

const TwoLines = ({ below, isOne, children }: TwoLinesProps) =>
  isOne ? (
    <>
      {children} <span className={classes.dimmed}>{below}</span>
    </>
  ) : (
    <>
      <div className={classes.line}>{children}</div>
      <div className={`${classes.line} ${classes.dimmed}`} title={below}>
        {below}
      </div>
    </>
  )

const PlaceName = ({ row: { roomId, place } }: { readonly row: WorkListRow }) =>
  roomId === undefined ? (
    <span title={place}>{place}</span>
  ) : (
    <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }} title={place} className={classes.room}>
      {place}
    </Link>
  )

interface TitleLinkProps {
  readonly incident: ListedIncident
  readonly hasTwoLines?: boolean
}

const TitleLink = ({ incident: { id, title }, hasTwoLines = false }: TitleLinkProps) => (
  <Link
    to="/incidents/$incidentId"
    params={{ incidentId: id }}
    className={hasTwoLines ? `${classes.title} ${classes.twoLines}` : classes.title}
    title={title}
  >
    {title}
  </Link>
)

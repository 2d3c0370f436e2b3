// Defines the columns of the work list, for wide windows and for phones.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { handlerName, incidentDurationMs, type ListedIncident, remarkText } from '../../domain/incidents/incident.ts'
import { stateName } from '../../domain/incidents/incident-state.ts'
import { LatestNote } from '../../domain/incidents/latest-note.tsx'
import { SeverityLabel } from '../../domain/incidents/severity-label.tsx'
import { weekCountText } from '../../domain/incidents/week-count.ts'
import type { StartIncidentTask } from '../../domain/incidents/work/incident-tasks.ts'
import { RowActions } from '../../domain/incidents/work/row-actions.tsx'
import type { Column } from '../../parts/table/column.ts'
import { durationText } from '../../parts/text/duration.ts'
import type { WorkListRow } from './incident-rows.ts'
import classes from './incidents.module.css'

interface ColumnOptions {
  readonly now: number
  readonly isPhone: boolean
  /** Undefined for sessions that may not operate. */
  readonly start: StartIncidentTask | undefined
}

export function workListColumns({ now, isPhone, start }: ColumnOptions): Column<WorkListRow>[] {
  const actions: Column<WorkListRow>[] = start
    ? [
        {
          id: 'actions',
          title: 'Actions',
          width: isPhone ? '56px' : '134px',
          cell: ({ incident }) => <RowActions incident={incident} start={start} isMenu={isPhone} />,
        },
      ]
    : []
  if (isPhone) return [phoneColumn(now), ...actions]
  return [
    {
      id: 'severity',
      title: 'Severity',
      width: '106px',
      canSort: true,
      cell: ({ incident }) => (
        <>
          <Line>
            <SeverityLabel severity={incident.severity} />
          </Line>
          <Line isDimmed>{stateName(incident.state)}</Line>
        </>
      ),
    },
    {
      id: 'place',
      title: 'Room',
      width: 'minmax(104px, 1.1fr)',
      canSort: true,
      cell: (row) => (
        <>
          <Line>
            <PlaceName row={row} />
          </Line>
          <Line isDimmed>{row.site}</Line>
        </>
      ),
    },
    {
      id: 'title',
      title: 'Incident',
      width: 'minmax(180px, 4fr)',
      canSort: true,
      cell: ({ incident }) => {
        const remark = remarkText(incident, now)
        if (remark === '') return <TitleLink incident={incident} hasTwoLines />
        return (
          <>
            <Line>
              <TitleLink incident={incident} />
            </Line>
            <Line isDimmed>{remark}</Line>
          </>
        )
      },
    },
    {
      id: 'duration',
      title: 'Duration',
      width: '88px',
      isNumber: true,
      canSort: true,
      cell: ({ incident }) => durationText(incidentDurationMs(incident, now)),
    },
    {
      id: 'week',
      title: 'Last 7 days',
      width: '92px',
      isNumber: true,
      canSort: true,
      cell: ({ weekCount }) => weekCount && weekCountText(weekCount),
    },
    {
      id: 'note',
      title: 'Latest note',
      width: 'minmax(90px, 1.2fr)',
      cell: ({ roomId }) => roomId !== undefined && <LatestNote roomId={roomId} />,
    },
    {
      id: 'handler',
      title: 'Handled by',
      width: 'minmax(78px, 0.8fr)',
      canSort: true,
      cell: ({ incident }) => {
        const name = handlerName(incident)
        return name !== undefined && <span title={name}>{name}</span>
      },
    },
    ...actions,
  ]
}

/** Phones show everything about an incident in one cell. */
const phoneColumn = (now: number): Column<WorkListRow> => ({
  id: 'title',
  title: 'Incident',
  width: 'minmax(0, 1fr)',
  cell: (row) => (
    <>
      <TitleLink incident={row.incident} hasTwoLines />
      <Line isDimmed>{[row.place, row.site].filter(Boolean).join(' · ')}</Line>
      <div className={classes.phoneLine}>
        <SeverityLabel severity={row.incident.severity} />
        <span>{durationText(incidentDurationMs(row.incident, now))}</span>
        <span className={`${classes.line} ${classes.dimmed}`}>{phoneText(row, now)}</span>
      </div>
    </>
  ),
})

interface LineProps {
  readonly isDimmed?: boolean
  readonly children: ReactNode
}

const Line = ({ isDimmed = false, children }: LineProps) => (
  <div className={isDimmed ? `${classes.line} ${classes.dimmed}` : classes.line}>{children}</div>
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

const phoneText = ({ incident, weekCount }: WorkListRow, now: number): string =>
  [
    handlerName(incident) ?? stateName(incident.state),
    weekCount && (weekCount.count > 1 || weekCount.isMinimum) && `${weekCountText(weekCount)} in 7 days`,
    remarkText(incident, now),
  ]
    .filter(Boolean)
    .join(' · ')

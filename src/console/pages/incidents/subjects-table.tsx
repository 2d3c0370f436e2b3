// Lists the subjects of an incident: what is affected, in which room, since when, and whether it has ended.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { IncidentDetails } from '../../domain/incidents/incident.ts'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'

type Subject = IncidentDetails['subjects'][number]

export const SubjectsTable = ({ incident }: { readonly incident: IncidentDetails }) => (
  <>
    <Text fz="sm" c="dimmed" mb="xs">
      {affectedText(incident)}
      {incident.subjects.length < incident.subjectCount &&
        `; the first ${plural(incident.subjects.length, 'is', 'are')} listed`}
    </Text>
    <DataTable
      label="Affected"
      rows={incident.subjects}
      columns={columns}
      keyOf={({ type, id }) => `${type} ${id}`}
      minWidthPx={480}
      maxHeightPx={520}
    />
  </>
)

/** "38 of 38 devices affected". The subjects of an incident are of one type. */
function affectedText({ openSubjectCount, subjectCount, subjects }: IncidentDetails): string {
  const noun = { endpoint: 'device', room: 'room', channel: 'channel', organisation: 'organisation', job: 'job' }[
    subjects[0]?.type ?? 'endpoint'
  ]
  return `${openSubjectCount.toLocaleString('en-GB')} of ${plural(subjectCount, noun)} affected`
}

function subjectLink({ type, id, name }: Subject): ReactNode {
  if (type === 'endpoint') {
    return (
      <Link to="/devices/$endpointId" params={{ endpointId: id }}>
        {name}
      </Link>
    )
  }
  if (type === 'room') {
    return (
      <Link to="/rooms/$roomId" params={{ roomId: id }}>
        {name}
      </Link>
    )
  }
  return name
}

const columns: readonly Column<Subject>[] = [
  {
    id: 'name',
    title: 'Name',
    sortValue: ({ name }) => name.toLowerCase(),
    cell: subjectLink,
  },
  {
    id: 'room',
    title: 'Room',
    sortValue: ({ roomName }) => roomName?.toLowerCase() ?? null,
    cell: ({ type, roomId, roomName }) =>
      type !== 'room' &&
      roomId !== undefined && (
        <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }}>
          {roomName ?? `Room ${roomId}`}
        </Link>
      ),
  },
  {
    id: 'since',
    title: 'Since',
    sortValue: ({ since }) => Date.parse(since),
    cell: ({ since }) => <DateTime at={since} />,
  },
  {
    id: 'ended',
    title: 'Ended',
    sortValue: ({ endedAt }) => (endedAt ? Date.parse(endedAt) : null),
    cell: ({ endedAt }) => (endedAt ? <DateTime at={endedAt} /> : 'Ongoing'),
  },
]

// Lists the subjects of an incident: what is affected, in which room, since when, and whether it has ended.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type RoomNameOf, useRoomNames } from '../../domain/fleet/room/room-names.ts'
import { type IncidentDetails, isOpenIncident } from '../../domain/incidents/incident.ts'
import { useRecoveryText } from '../../domain/incidents/recovery.ts'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { useNow } from '../../parts/text/now.ts'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'

type Subject = IncidentDetails['subjects'][number]

export function SubjectsTable({ incident }: { readonly incident: IncidentDetails }) {
  const nameOf = useRoomNames()
  const recoveryOf = useRecoveryText(useNow())
  return (
    <>
      <Text fz="sm" c="dimmed" mb="xs">
        {recoveryOf(incident) ?? affectedText(incident)}
        {incident.subjects.length < incident.subjectCount &&
          `; the first ${plural(incident.subjects.length, 'is', 'are')} listed`}
      </Text>
      <DataTable
        label="Affected"
        rows={incident.subjects}
        columns={columnsOf(nameOf)}
        keyOf={({ type, id }) => `${type} ${id}`}
        minWidthPx={480}
        maxHeightPx={520}
      />
    </>
  )
}

/** "38 of 38 devices affected", or "38 devices were affected". The subjects of an incident are of one type. */
function affectedText(incident: IncidentDetails): string {
  const { openSubjectCount, subjectCount, subjects } = incident
  const noun = { endpoint: 'device', room: 'room', channel: 'channel', organisation: 'organisation', job: 'job' }[
    subjects[0]?.type ?? 'endpoint'
  ]
  if (!isOpenIncident(incident)) return `${plural(subjectCount, `${noun} was`, `${noun}s were`)} affected`
  return `${openSubjectCount.toLocaleString('en-GB')} of ${plural(subjectCount, noun)} affected`
}

function subjectLink({ type, id, name }: Subject, nameOf: RoomNameOf): ReactNode {
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
        {nameOf(Number(id), name)}
      </Link>
    )
  }
  return name
}

const columnsOf = (nameOf: RoomNameOf): readonly Column<Subject>[] => [
  {
    id: 'name',
    title: 'Name',
    sortValue: ({ name }) => name.toLowerCase(),
    cell: (subject) => subjectLink(subject, nameOf),
  },
  {
    id: 'room',
    title: 'Room',
    sortValue: ({ roomName }) => roomName?.toLowerCase() ?? null,
    cell: ({ type, roomId, roomName }) =>
      type !== 'room' &&
      roomId !== undefined && (
        <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }}>
          {nameOf(roomId, roomName)}
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

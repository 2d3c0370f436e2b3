// Lists the subjects of an incident: what is affected, in which room, since when, and whether it has ended.
import { Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { IncidentDetails } from '../../domain/incidents/incident.ts'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'

type Subject = IncidentDetails['subjects'][number]

export const SubjectsTable = ({ incident }: { readonly incident: IncidentDetails }) => (
  <>
    <Text fz="sm" c="dimmed" mb="xs">
      {incident.openSubjectCount.toLocaleString('en-GB')} of {incident.subjectCount.toLocaleString('en-GB')} still
      affected
      {incident.subjects.length < incident.subjectCount &&
        `; the first ${plural(incident.subjects.length, 'is', 'are')} listed`}
    </Text>
    <Table.ScrollContainer minWidth={480} maxHeight={520} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table verticalSpacing={6} aria-label="Affected">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Name</Table.Th>
            <Table.Th scope="col">Room</Table.Th>
            <Table.Th scope="col">Since</Table.Th>
            <Table.Th scope="col">Ended</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {incident.subjects.map((subject) => (
            <Table.Tr key={`${subject.type} ${subject.id}`}>
              <Table.Th scope="row" fw={550}>
                {subjectLink(subject)}
              </Table.Th>
              <Table.Td>
                {subject.type !== 'room' && subject.roomId !== undefined && (
                  <Link to="/rooms/$roomId" params={{ roomId: String(subject.roomId) }}>
                    {subject.roomName ?? `Room ${subject.roomId}`}
                  </Link>
                )}
              </Table.Td>
              <Table.Td>
                <DateTime at={subject.since} />
              </Table.Td>
              <Table.Td>{subject.endedAt ? <DateTime at={subject.endedAt} /> : 'Still affected'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  </>
)

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

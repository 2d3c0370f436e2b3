// Lists sessions of a person: how and where they signed in, and when the session was last used. [contract 11.user]
import { Badge, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Static } from 'typebox'
import type { UserSession } from '../../../../contract/people/users.ts'
import { DateTime } from '../../../parts/text/time.tsx'
import { wayNames } from './person.ts'

type Session = Static<typeof UserSession> & { readonly current?: boolean }

interface SessionsTableProps {
  readonly sessions: readonly Session[]
  /** Shown at the end of each row. */
  readonly action?: (session: Session) => ReactNode
}

export const SessionsTable = ({ sessions, action }: SessionsTableProps) => (
  <Table.ScrollContainer minWidth={action ? 640 : 380}>
    <Table verticalSpacing="xs" aria-label="Sessions">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Browser</Table.Th>
          <Table.Th scope="col">Signed in with</Table.Th>
          <Table.Th scope="col">Signed in</Table.Th>
          <Table.Th scope="col">Last used</Table.Th>
          {action && <Table.Td />}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sessions.map((session) => (
          <Table.Tr key={session.id}>
            <Table.Th scope="row" fw={550}>
              {session.browser ?? 'Unknown browser'}{' '}
              {session.current && (
                <Badge variant="light" tt="none">
                  This session
                </Badge>
              )}
              {session.ip && (
                <Text fz="xs" c="dimmed" fw={400}>
                  {session.ip}
                </Text>
              )}
            </Table.Th>
            <Table.Td>{wayNames[session.via]}</Table.Td>
            <Table.Td>
              <DateTime at={session.createdAt} />
            </Table.Td>
            <Table.Td>
              <DateTime at={session.usedAt} />
            </Table.Td>
            {action && <Table.Td ta="right">{action(session)}</Table.Td>}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)

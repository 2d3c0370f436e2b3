// Lists sessions of a person: how and where they signed in, and when the session was last used. [contract 11.user]
import { Badge, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Static } from 'typebox'
import type { UserSession } from '../../../../contract/people/users.ts'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { wayNames } from './person.ts'

type Session = Static<typeof UserSession> & { readonly current?: boolean }

interface SessionsTableProps {
  readonly sessions: readonly Session[]
  /** Shown at the end of each row. */
  readonly action?: (session: Session) => ReactNode
}

export const SessionsTable = ({ sessions, action }: SessionsTableProps) => (
  <DataTable
    label="Sessions"
    rows={sessions}
    columns={action ? [...columns, { id: 'actions', title: 'Actions', isControl: true, cell: action }] : columns}
    keyOf={({ id }) => id}
    minWidthPx={action ? 640 : 380}
  />
)

const columns: readonly Column<Session>[] = [
  {
    id: 'browser',
    title: 'Browser',
    cell: ({ browser, current, ip }) => (
      <>
        {browser ?? 'Unknown browser'}{' '}
        {current && (
          <Badge variant="light" tt="none">
            This session
          </Badge>
        )}
        {ip && (
          <Text fz="xs" c="dimmed" fw={400}>
            {ip}
          </Text>
        )}
      </>
    ),
  },
  { id: 'via', title: 'Signed in with', cell: ({ via }) => wayNames[via] },
  {
    id: 'created',
    title: 'Signed in',
    sortValue: ({ createdAt }) => Date.parse(createdAt),
    cell: ({ createdAt }) => <DateTime at={createdAt} />,
  },
  {
    id: 'used',
    title: 'Last used',
    sortValue: ({ usedAt }) => Date.parse(usedAt),
    cell: ({ usedAt }) => <DateTime at={usedAt} />,
  },
]

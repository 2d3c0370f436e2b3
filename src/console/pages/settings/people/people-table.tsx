// Lists people with their role, regions, state and ways to sign in, and a menu of actions for each.
import { ActionIcon, Badge, Menu, Text } from '@mantine/core'
import { type Person, regionsText, wayNames } from '../../../domain/people/person/person.ts'
import { roleNames } from '../../../domain/people/person/roles.ts'
import { CancelledIcon, ClockIcon, MoreIcon } from '../../../parts/page/icons.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { StateBadge, type StateLook } from '../../../parts/text/status-label.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { useSession } from '../../../session.ts'

export type PersonAction = 'edit' | 'invite' | 'sign-out' | 'unlink' | 'disable' | 'delete'

interface PeopleTableProps {
  readonly people: readonly Person[]
  readonly regionNames: ReadonlyMap<number, string>
  /** Undefined for sessions that cannot manage people. */
  readonly start: ((action: PersonAction, person: Person) => void) | undefined
}

export function PeopleTable({ people, regionNames, start }: PeopleTableProps) {
  const ownId = useSession().user?.id
  return (
    <DataTable
      label="People"
      rows={people}
      columns={[...personColumns(regionNames, ownId), ...(start ? [menuColumn(start)] : [])]}
      keyOf={({ id }) => id}
      minWidthPx={780}
    />
  )
}

const personColumns = (
  regionNames: ReadonlyMap<number, string>,
  ownId: string | undefined,
): readonly Column<Person>[] => [
  {
    id: 'person',
    title: 'Person',
    breaksWords: true,
    sortValue: ({ name, email }) => (name ?? email).toLowerCase(),
    cell: ({ id, name, email }) => (
      <>
        {name ?? email}{' '}
        {id === ownId && (
          <Badge variant="light" tt="none">
            You
          </Badge>
        )}
        {name !== undefined && (
          <Text fz="xs" c="dimmed" fw={400}>
            {email}
          </Text>
        )}
      </>
    ),
  },
  { id: 'role', title: 'Role', sortValue: ({ role }) => roleNames[role], cell: ({ role }) => roleNames[role] },
  {
    id: 'regions',
    title: 'Regions',
    cell: (person) => (person.role === 'owner' ? 'All regions' : regionsText(person, regionNames)),
  },
  {
    id: 'state',
    title: 'State',
    sortValue: ({ state }) => states[state].label,
    cell: ({ state }) => <StateBadge look={states[state]} />,
  },
  {
    id: 'ways',
    title: 'Signs in with',
    cell: ({ signsInWith }) => signsInWith.map((way) => wayNames[way]).join(', ') || <None>Link only</None>,
  },
  {
    id: 'seen',
    title: 'Last seen',
    sortValue: ({ lastSeenAt }) => (lastSeenAt ? Date.parse(lastSeenAt) : null),
    cell: ({ lastSeenAt }) => (lastSeenAt ? <DateTime at={lastSeenAt} /> : <None>Never</None>),
  },
]

const menuColumn = (start: (action: PersonAction, person: Person) => void): Column<Person> => ({
  id: 'actions',
  title: 'Actions',
  isControl: true,
  inCard: 'corner',
  cell: (person) => <PersonMenu person={person} start={(action) => start(action, person)} />,
})

const states: Readonly<Record<Person['state'], StateLook>> = {
  ACTIVE: { label: 'Active', tone: 'calm' },
  INVITED: { label: 'Invited', tone: 'quiet', icon: <ClockIcon size={16} /> },
  DISABLED: { label: 'Disabled', tone: 'quiet', icon: <CancelledIcon size={16} /> },
}

const None = ({ children }: { readonly children: string }) => (
  <Text span fz="sm" c="dimmed">
    {children}
  </Text>
)

interface PersonMenuProps {
  readonly person: Person
  readonly start: (action: PersonAction) => void
}

const PersonMenu = ({ person: { email, state, signsInWith }, start }: PersonMenuProps) => (
  <Menu position="bottom-end" width={230}>
    <Menu.Target>
      <ActionIcon variant="subtle" color="gray" c="dimmed" aria-label={`Actions for ${email}`} title="Actions">
        <MoreIcon />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      <Menu.Item onClick={() => start('edit')}>Edit role and regions</Menu.Item>
      {state !== 'DISABLED' && <Menu.Item onClick={() => start('invite')}>Create sign-in link</Menu.Item>}
      <Menu.Divider />
      <Menu.Item onClick={() => start('sign-out')}>Sign out everywhere</Menu.Item>
      {signsInWith.length > 0 && <Menu.Item onClick={() => start('unlink')}>Remove ways to sign in</Menu.Item>}
      <Menu.Item onClick={() => start('disable')}>{state === 'DISABLED' ? 'Enable' : 'Disable'}</Menu.Item>
      <Menu.Item c="var(--rk-offline)" onClick={() => start('delete')}>
        Delete
      </Menu.Item>
    </Menu.Dropdown>
  </Menu>
)

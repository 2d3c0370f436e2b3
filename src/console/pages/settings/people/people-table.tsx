// Lists people with their role, regions, state and ways to sign in, and a menu of actions for each.
import { ActionIcon, Badge, Group, Menu, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { type Person, regionsText, wayNames } from '../../../domain/people/person/person.ts'
import { roleNames } from '../../../domain/people/person/roles.ts'
import { CheckIcon, ClockIcon, CrossIcon, MoreIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
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
    <Table.ScrollContainer minWidth={780}>
      <Table verticalSpacing="xs" aria-label="People">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Person</Table.Th>
            <Table.Th scope="col">Role</Table.Th>
            <Table.Th scope="col">Regions</Table.Th>
            <Table.Th scope="col">State</Table.Th>
            <Table.Th scope="col">Signs in with</Table.Th>
            <Table.Th scope="col">Last seen</Table.Th>
            {start && <Table.Td />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {people.map((person) => (
            <Table.Tr key={person.id}>
              <Table.Th scope="row" fw={550} style={{ overflowWrap: 'anywhere' }}>
                {person.name ?? person.email}{' '}
                {person.id === ownId && (
                  <Badge variant="light" tt="none">
                    You
                  </Badge>
                )}
                {person.name !== undefined && (
                  <Text fz="xs" c="dimmed" fw={400}>
                    {person.email}
                  </Text>
                )}
              </Table.Th>
              <Table.Td>{roleNames[person.role]}</Table.Td>
              <Table.Td>{person.role === 'owner' ? 'All regions' : regionsText(person, regionNames)}</Table.Td>
              <Table.Td>
                <StatusLabel colour={states[person.state].colour} icon={states[person.state].icon}>
                  {states[person.state].word}
                </StatusLabel>
              </Table.Td>
              <Table.Td>{person.signsInWith.map((way) => wayNames[way]).join(', ') || <None>Link only</None>}</Table.Td>
              <Table.Td>{person.lastSeenAt ? <DateTime at={person.lastSeenAt} /> : <None>Never</None>}</Table.Td>
              {start && (
                <Table.Td>
                  <Group justify="flex-end">
                    <PersonMenu person={person} start={(action) => start(action, person)} />
                  </Group>
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

const states: Readonly<Record<Person['state'], { word: string; colour: string; icon: ReactNode }>> = {
  ACTIVE: { word: 'Active', colour: 'var(--rk-healthy)', icon: <CheckIcon size={16} /> },
  INVITED: { word: 'Invited', colour: 'var(--mantine-color-text)', icon: <ClockIcon size={16} /> },
  DISABLED: { word: 'Disabled', colour: 'var(--rk-offline)', icon: <CrossIcon size={16} /> },
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

// Lists the users, who are contacts only: they cannot sign in, and their roles grant nothing. [contract 5.4.user]
import { ActionIcon, Button, Group, Modal, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useMemo, useState } from 'react'
import { useBody } from '../../api.ts'
import { BinIcon, EditIcon, PlusIcon } from '../../parts/page/icons.tsx'
import { LoadingBoundary, Section } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { DeleteUser } from './delete-user.tsx'
import { EditUser, NewUser, type UserRecord } from './user-form.tsx'

type UserAction = 'create' | 'edit' | 'delete'

export function UsersSection() {
  const { users } = useBody('usersList')
  const { regions } = useBody('regionsList')
  const regionNames = useMemo(() => new Map(regions.map(({ id, name }) => [id, name])), [regions])
  const { manage } = usePermissions()
  const [action, setAction] = useState<UserAction>('create')
  const [user, setUser] = useState<UserRecord>()
  const [opened, dialog] = useDisclosure(false)
  const start = (nextAction: UserAction, nextUser?: UserRecord) => {
    setAction(nextAction)
    setUser(nextUser)
    dialog.open()
  }
  const ownerCount = users.filter(({ role }) => role === 'owner').length
  return (
    <Section
      title="Users"
      actions={
        manage && (
          <Button size="xs" leftSection={<PlusIcon size={16} />} onClick={() => start('create')}>
            New user
          </Button>
        )
      }
    >
      <Text fz="sm" c="dimmed" mb="sm">
        <b>Contact list only.</b> Roles grant no access. Sign-in uses API keys.
      </Text>
      {users.length === 0 ? (
        <Text fz="sm" py="xs">
          No users yet
        </Text>
      ) : (
        <UsersTable users={users} regionNames={regionNames} start={manage ? start : undefined} />
      )}
      <Modal
        opened={opened && action !== 'delete'}
        onClose={dialog.close}
        title={action === 'create' ? 'New user' : 'Edit user'}
      >
        <LoadingBoundary>
          {action === 'create' && <NewUser regions={regions} onClose={dialog.close} />}
          {action === 'edit' && user && <EditUser id={user.id} regions={regions} onClose={dialog.close} />}
        </LoadingBoundary>
      </Modal>
      <DeleteUser
        user={user}
        isLastOwner={user?.role === 'owner' && ownerCount === 1}
        opened={opened && action === 'delete'}
        onClose={dialog.close}
      />
    </Section>
  )
}

interface UsersTableProps {
  readonly users: readonly UserRecord[]
  readonly regionNames: ReadonlyMap<number, string>
  /** Keys that cannot manage users get no action. */
  readonly start: ((action: UserAction, user: UserRecord) => void) | undefined
}

const UsersTable = ({ users, regionNames, start }: UsersTableProps) => (
  <Table.ScrollContainer minWidth={560}>
    <Table verticalSpacing="xs" aria-label="Users">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">E-mail address</Table.Th>
          <Table.Th scope="col">Role</Table.Th>
          <Table.Th scope="col">Regions</Table.Th>
          {start && <Table.Td />}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {users.map((user) => (
          <Table.Tr key={user.id}>
            <Table.Th scope="row" fw={550} style={{ overflowWrap: 'anywhere' }}>
              {user.email}
            </Table.Th>
            <Table.Td>{user.role === 'owner' ? 'Owner' : 'Admin'}</Table.Td>
            <Table.Td>{regionsText(user, regionNames)}</Table.Td>
            {start && (
              <Table.Td>
                <Group gap={2} wrap="nowrap" justify="flex-end">
                  <RowButton verb="Edit" email={user.email} onClick={() => start('edit', user)}>
                    <EditIcon />
                  </RowButton>
                  <RowButton verb="Delete" email={user.email} onClick={() => start('delete', user)}>
                    <BinIcon />
                  </RowButton>
                </Group>
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)

interface RowButtonProps {
  readonly verb: string
  readonly email: string
  readonly onClick: () => void
  readonly children: ReactNode
}

const RowButton = ({ verb, email, onClick, children }: RowButtonProps) => (
  <ActionIcon variant="subtle" color="gray" c="dimmed" aria-label={`${verb} ${email}`} title={verb} onClick={onClick}>
    {children}
  </ActionIcon>
)

function regionsText({ role, regionIds }: UserRecord, regionNames: ReadonlyMap<number, string>) {
  if (role === 'owner') return 'All regions'
  if (regionIds.length > 0) return regionIds.map((id) => regionNames.get(id) ?? `Region ${id}`).join(', ')
  return (
    <Text span fz="sm" c="dimmed">
      None
    </Text>
  )
}

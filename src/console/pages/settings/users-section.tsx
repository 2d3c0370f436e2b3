// Users: records of people, and that they are no more than that for now. [contract 5.4.user]
import { ActionIcon, Button, Group, Modal, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { useBody } from '../../api.ts'
import { BinIcon, EditIcon, PlusIcon } from '../../parts/page/icons.tsx'
import { LoadingBoundary, Section } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { DeleteUser } from './delete-user.tsx'
import { EditUser, NewUser, type UserRecord } from './user-form.tsx'

type Doing = 'create' | 'edit' | 'delete'

export function UsersSection() {
  const { users } = useBody('usersList')
  const { regions } = useBody('regionsList')
  const names = useMemo(() => new Map(regions.map(({ id, name }) => [id, name])), [regions])
  const { manage } = usePermissions()
  const [doing, setDoing] = useState<Doing>('create')
  const [about, setAbout] = useState<UserRecord>()
  const [opened, dialog] = useDisclosure(false)
  const start = (what: Doing, user?: UserRecord) => {
    setDoing(what)
    setAbout(user)
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
        <b>Records only, for now:</b> nobody signs in with a user, nothing is mailed to them, and their role gives them
        no rights. People sign in with API keys.
      </Text>
      {users.length === 0 ? (
        <Text fz="sm" py="xs">
          No user is on record yet. A record says who owns this organisation, or who looks after which regions.
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={560}>
          <Table verticalSpacing="xs" aria-label="Users">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">E-mail address</Table.Th>
                <Table.Th scope="col">Role</Table.Th>
                <Table.Th scope="col">Looks after</Table.Th>
                {manage && <Table.Td />}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {users.map((user) => (
                <Table.Tr key={user.id}>
                  <Table.Th scope="row" fw={550} style={{ overflowWrap: 'anywhere' }}>
                    {user.email}
                  </Table.Th>
                  <Table.Td>{user.role === 'owner' ? 'Owner' : 'Admin'}</Table.Td>
                  <Table.Td>{lookedAfter(user, names)}</Table.Td>
                  {manage && (
                    <Table.Td>
                      <Group gap={2} wrap="nowrap" justify="flex-end">
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          c="dimmed"
                          aria-label={`Edit ${user.email}`}
                          title="Edit"
                          onClick={() => start('edit', user)}
                        >
                          <EditIcon />
                        </ActionIcon>
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          c="dimmed"
                          aria-label={`Delete ${user.email}`}
                          title="Delete"
                          onClick={() => start('delete', user)}
                        >
                          <BinIcon />
                        </ActionIcon>
                      </Group>
                    </Table.Td>
                  )}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Modal
        opened={opened && doing !== 'delete'}
        onClose={dialog.close}
        title={doing === 'create' ? 'New user' : 'Edit user'}
      >
        <LoadingBoundary>
          {doing === 'create' && <NewUser regions={regions} onClose={dialog.close} />}
          {doing === 'edit' && about && <EditUser id={about.id} regions={regions} onClose={dialog.close} />}
        </LoadingBoundary>
      </Modal>
      <DeleteUser
        user={about}
        isLastOwner={about?.role === 'owner' && ownerCount === 1}
        opened={opened && doing === 'delete'}
        onClose={dialog.close}
      />
    </Section>
  )
}

function lookedAfter({ role, regionIds }: UserRecord, names: ReadonlyMap<number, string>) {
  if (role === 'owner') return 'Everything'
  if (regionIds.length > 0) return regionIds.map((id) => names.get(id) ?? `region ${id}`).join(', ')
  return (
    <Text span fz="sm" c="dimmed">
      No region
    </Text>
  )
}

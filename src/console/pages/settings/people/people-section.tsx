// The people of the organisation: owners invite them, set their role and regions, and end their access. [contract 11.user]
import { Button, Modal, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { useBody } from '../../../api.ts'
import type { Person } from '../../../domain/people/person/person.ts'
import { PlusIcon } from '../../../parts/page/icons.tsx'
import { LoadingBoundary, Section } from '../../../parts/page/page.tsx'
import { usePermissions } from '../../../session.ts'
import { InviteDialog } from './invite-dialog.tsx'
import { PeopleTable, type PersonAction } from './people-table.tsx'
import { DeletePersonDialog, DisableDialog, SignOutDialog, UnlinkDialog } from './person-dialogs.tsx'
import { EditPersonForm } from './person-form.tsx'

export function PeopleSection() {
  const { users } = useBody('usersList')
  const { regions } = useBody('regionsList')
  const regionNames = useMemo(() => new Map(regions.map(({ id, name }) => [id, name])), [regions])
  const { manage } = usePermissions()
  const [action, setAction] = useState<PersonAction>('invite')
  const [person, setPerson] = useState<Person>()
  const [opened, dialog] = useDisclosure(false)
  const start = (nextAction: PersonAction, nextPerson?: Person) => {
    setAction(nextAction)
    setPerson(nextPerson)
    dialog.open()
  }
  const isLastOwner =
    person?.role === 'owner' && users.filter(({ role, state }) => role === 'owner' && state !== 'DISABLED').length <= 1
  const dialogOf = (name: PersonAction) => ({ person, opened: opened && action === name, onClose: dialog.close })
  return (
    <Section
      title="People"
      actions={
        manage && (
          <Button size="xs" leftSection={<PlusIcon size={16} />} onClick={() => start('invite')}>
            Invite person
          </Button>
        )
      }
    >
      <Text fz="sm" c="dimmed" mb="sm">
        People sign in with a company account, a passkey or a link. There are no passwords. Roles define what people can
        do, regions what they see.
      </Text>
      {users.length === 0 ? (
        <Text fz="sm" py="xs">
          No people yet. {!manage && 'Ask an owner to invite people.'}
        </Text>
      ) : (
        <PeopleTable people={users} regionNames={regionNames} start={manage ? start : undefined} />
      )}
      <InviteDialog {...dialogOf('invite')} regions={regions} />
      <Modal opened={opened && action === 'edit'} onClose={dialog.close} title="Edit person">
        <LoadingBoundary>
          {person && <EditPersonForm id={person.id} regions={regions} onClose={dialog.close} />}
        </LoadingBoundary>
      </Modal>
      <SignOutDialog {...dialogOf('sign-out')} />
      <UnlinkDialog {...dialogOf('unlink')} />
      <DisableDialog {...dialogOf('disable')} isLastOwner={isLastOwner} />
      <DeletePersonDialog {...dialogOf('delete')} isLastOwner={isLastOwner} />
    </Section>
  )
}

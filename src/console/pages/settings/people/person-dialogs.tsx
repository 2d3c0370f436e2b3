// Confirms what an owner does to a person: sign out everywhere, remove the ways to sign in, disable, enable, delete. [contract 11.user]
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useWrite } from '../../../api.ts'
import { type Person, personName } from '../../../domain/people/person/person.ts'
import { ConfirmDialog } from '../../../parts/dialog/confirm-dialog.tsx'
import { PersonSessions } from './person-sessions.tsx'

interface PersonDialogProps {
  readonly person: Person | undefined
  readonly opened: boolean
  readonly onClose: () => void
}

interface DialogWithOwners extends PersonDialogProps {
  readonly isLastOwner: boolean
}

const Sentence = ({ children }: { readonly children: ReactNode }) => (
  <Text style={{ overflowWrap: 'anywhere' }}>{children}</Text>
)

export function SignOutDialog({ person, opened, onClose }: PersonDialogProps) {
  const signOut = useWrite('userSessionsDelete', {
    successText: `${person && personName(person)} was signed out everywhere`,
    onDone: onClose,
    quiet: true,
  })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="Sign out everywhere?"
      verb="Sign out everywhere"
      mutation={signOut}
      onConfirm={() => person && signOut.mutate({ input: { id: person.id } })}
    >
      <Sentence>
        All sessions of <b>{person && personName(person)}</b> end. They can sign in again. Personal keys keep working.
      </Sentence>
      {person && opened && <PersonSessions id={person.id} />}
    </ConfirmDialog>
  )
}

export function UnlinkDialog({ person, opened, onClose }: PersonDialogProps) {
  const unlink = useWrite('usersUnlink', { successText: 'Ways to sign in removed', onDone: onClose, quiet: true })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="Remove ways to sign in?"
      verb="Remove ways to sign in"
      mutation={unlink}
      onConfirm={() => person && unlink.mutate({ input: { id: person.id } })}
    >
      <Sentence>
        This removes the company account and the passkeys of <b>{person && personName(person)}</b>, revokes their
        personal keys and ends their sessions. To sign in again, they need a new link from you.
      </Sentence>
    </ConfirmDialog>
  )
}

export function DisableDialog({ person, isLastOwner, opened, onClose }: DialogWithOwners) {
  const isDisabled = person?.state === 'DISABLED'
  const update = useWrite('usersUpdate', {
    successText: isDisabled ? 'Person enabled' : 'Person disabled',
    onDone: onClose,
    quiet: true,
  })
  const isBlocked = isLastOwner && !isDisabled
  // The server decides whether an enabled person is active or invited.
  const state = isDisabled ? 'ACTIVE' : 'DISABLED'
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={isBlocked ? 'This person cannot be disabled' : isDisabled ? 'Enable this person?' : 'Disable this person?'}
      verb={isDisabled ? 'Enable' : 'Disable'}
      danger={!isDisabled}
      blocked={isBlocked}
      mutation={update}
      onConfirm={() => person && update.mutate({ input: { id: person.id, body: { state } } })}
    >
      <Sentence>
        <b>{person && personName(person)}</b>{' '}
        {isBlocked
          ? 'is the last owner. Make another person an owner first.'
          : isDisabled
            ? 'can sign in again, with the same role and regions.'
            : 'can no longer sign in. Their sessions end and their personal keys stop working immediately.'}
      </Sentence>
    </ConfirmDialog>
  )
}

export function DeletePersonDialog({ person, isLastOwner, opened, onClose }: DialogWithOwners) {
  const remove = useWrite('usersDelete', {
    successText: `${person && personName(person)} deleted`,
    onDone: onClose,
    quiet: true,
  })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={isLastOwner ? 'This person cannot be deleted' : 'Delete this person?'}
      verb="Delete person"
      blocked={isLastOwner}
      mutation={remove}
      onConfirm={() => person && remove.mutate({ input: { id: person.id } })}
    >
      <Sentence>
        <b>{person && personName(person)}</b>{' '}
        {isLastOwner
          ? 'is the last owner. Make another person an owner first.'
          : 'will be removed. Their sessions end and their personal keys are deleted. Other keys are not affected.'}
      </Sentence>
    </ConfirmDialog>
  )
}

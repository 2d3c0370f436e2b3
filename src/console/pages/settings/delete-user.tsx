// Deleting a user record, or why it cannot be done.
import { Text } from '@mantine/core'
import { useWrite } from '../../api.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import type { UserRecord } from './user-form.tsx'

interface DeleteUserProps {
  readonly user: UserRecord | undefined
  readonly isLastOwner: boolean
  readonly opened: boolean
  readonly onClose: () => void
}

export function DeleteUser({ user, isLastOwner, opened, onClose }: DeleteUserProps) {
  const remove = useWrite('usersDelete', { successText: `${user?.email} was deleted.`, onDone: onClose, quiet: true })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={isLastOwner ? 'This user cannot be deleted' : 'Delete this user?'}
      verb="Delete user"
      blocked={isLastOwner}
      mutation={remove}
      onConfirm={() => user && remove.mutate({ input: { id: user.id } })}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        <b>{user?.email}</b>{' '}
        {isLastOwner
          ? 'is the last owner. Make somebody else an owner first.'
          : 'will no longer be on record. Nobody loses access: users sign in nowhere, and keys stay as they are.'}
      </Text>
    </ConfirmDialog>
  )
}

// Confirms the deletion of a user; the last owner cannot be deleted.
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
  const remove = useWrite('usersDelete', { successText: `${user?.email} deleted`, onDone: onClose, quiet: true })
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
        {isLastOwner ? 'is the last owner. Assign another owner first.' : 'will be removed. API keys are not affected.'}
      </Text>
    </ConfirmDialog>
  )
}

// Confirms that a key is revoked, or says why it cannot be. [contract 6.keys]
import { Stack, Text } from '@mantine/core'
import { useWrite } from '../../../api.ts'
import { type ApiKey, isLastManagerKey } from '../../../domain/people/key/api-key.ts'
import { ConfirmDialog } from '../../../parts/dialog/confirm-dialog.tsx'
import { shortTime } from '../../../parts/text/time.tsx'
import { endSession, useSession } from '../../../session.ts'

interface RevokeKeyProps {
  readonly apiKey: ApiKey | undefined
  readonly keys: readonly ApiKey[]
  readonly opened: boolean
  readonly onClose: () => void
}

export function RevokeKey({ apiKey: key, keys, opened, onClose }: RevokeKeyProps) {
  const isOwn = key?.id === useSession().key?.id
  const revoke = useWrite('keysDelete', {
    successText: `Key ${key?.name} revoked`,
    onDone: () => {
      onClose()
      if (isOwn) endSession('Your key was revoked. Sign in with another key.')
    },
    quiet: true,
  })
  const isRevoked = key !== undefined && !keys.some(({ id }) => id === key.id)
  const isLast = key !== undefined && isLastManagerKey(key, keys)
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={isLast ? 'This key cannot be revoked' : 'Revoke this key?'}
      verb="Revoke key"
      blocked={isLast || isRevoked}
      mutation={revoke}
      onConfirm={() => key && revoke.mutate({ input: { id: key.id } })}
    >
      {key && isRevoked && revoke.isIdle && <Text>This key is already revoked.</Text>}
      {key && !isRevoked && isLast && (
        <Text>
          <b>{key.name}</b> is the last key that can manage keys and people. Create another key with Manage access
          first.
        </Text>
      )}
      {key && !isRevoked && !isLast && (
        <Stack gap="xs">
          <Text style={{ overflowWrap: 'anywhere' }}>
            <b>{key.name}</b> ({key.prefix}…) stops working immediately, and all its sessions end. This cannot be
            undone.
          </Text>
          {isOwn && <Text fw={600}>You are signed in with this key and will be signed out.</Text>}
          <Text fz="sm" c="dimmed">
            {key.lastUsedAt ? `Last used: ${shortTime(Date.parse(key.lastUsedAt))}` : 'Never used'}
          </Text>
        </Stack>
      )}
    </ConfirmDialog>
  )
}

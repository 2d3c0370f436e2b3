// Revoking a key: what stops, or why it cannot, before anything does. [contract 6.keys]
import { Stack, Text } from '@mantine/core'
import { useWrite } from '../../api.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { shortTime } from '../../parts/text/time.tsx'
import { endSession, useSession } from '../../session.ts'
import { type ApiKey, isLastManager } from './key-words.ts'

interface RevokeKeyProps {
  readonly apiKey: ApiKey | undefined
  readonly keys: readonly ApiKey[]
  readonly opened: boolean
  readonly onClose: () => void
}

export function RevokeKey({ apiKey: key, keys, opened, onClose }: RevokeKeyProps) {
  const isOwn = key?.id === useSession().key.id
  const revoke = useWrite('keysDelete', {
    successText: `The key ${key?.name} was revoked.`,
    onDone: () => {
      onClose()
      if (isOwn) endSession('You have revoked the key that you were signed in with. Sign in with another one.')
    },
    quiet: true,
  })
  const isGone = key !== undefined && !keys.some(({ id }) => id === key.id)
  const isLast = key !== undefined && isLastManager(key, keys)
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={isLast ? 'This key cannot be revoked' : 'Revoke this key?'}
      verb="Revoke key"
      blocked={isLast || isGone}
      mutation={revoke}
      onConfirm={() => key && revoke.mutate({ input: { id: key.id } })}
    >
      {key && isGone && revoke.isIdle && <Text>Somebody else has revoked it already.</Text>}
      {key && !isGone && isLast && (
        <Text>
          <b>{key.name}</b> is the last key that manages keys and users: without it nobody could make another. Create a
          new key with Manage first, then revoke this one.
        </Text>
      )}
      {key && !isGone && !isLast && (
        <Stack gap="xs">
          <Text style={{ overflowWrap: 'anywhere' }}>
            <b>{key.name}</b> ({key.prefix}…) stops working at once, for good. Programs that use it are refused, and
            everybody who is signed in with it is signed out.
          </Text>
          {isOwn && <Text fw={600}>You are signed in with this key: you will be signed out yourself.</Text>}
          <Text fz="sm" c="dimmed">
            {key.lastUsedAt ? `It was last used: ${shortTime(Date.parse(key.lastUsedAt))}.` : 'It was never used.'}
          </Text>
        </Stack>
      )}
    </ConfirmDialog>
  )
}

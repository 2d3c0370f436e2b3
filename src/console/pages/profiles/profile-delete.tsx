// Deletes a profile after a confirmation; a profile in use cannot be deleted. [contract 5.4.profile]
import { Button, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../../client/client.ts'
import { useWrite } from '../../api.ts'
import { isConcurrentChange } from '../../parts/dialog/concurrent-change.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { BinIcon } from '../../parts/page/icons.tsx'

interface DeleteProfileProps {
  readonly id: number
  readonly name: string
  readonly etag: string | undefined
}

export function DeleteProfile({ id, name, etag }: DeleteProfileProps) {
  const navigate = useNavigate()
  const [isConfirming, setConfirming] = useState(false)
  const remove = useWrite('profilesDelete', {
    quiet: true,
    successText: `Profile ${name} deleted`,
    onDone: () => navigate({ to: '/profiles', ignoreBlocker: true }),
  })
  const isInUse = remove.error instanceof ApiError && remove.error.body?.code === 'FAILED_PRECONDITION'
  const isOutdated = isConcurrentChange(remove.error)
  return (
    <>
      <Button variant="default" c="var(--rk-offline)" leftSection={<BinIcon />} onClick={() => setConfirming(true)}>
        Delete profile
      </Button>
      <ConfirmDialog
        opened={isConfirming}
        onClose={() => setConfirming(false)}
        title={`Delete profile ${name}?`}
        verb="Delete profile"
        mutation={remove}
        blocked={isInUse}
        {...((isInUse || isOutdated) && { error: null })}
        onConfirm={() => remove.mutate({ input: { id }, ifMatch: etag })}
      >
        {isInUse ? (
          <Text role="alert">
            This profile is still used by a room or a device. Change or remove the profile there, then delete it.
          </Text>
        ) : (
          <>
            <Text>This permanently deletes the profile and its settings.</Text>
            <Text mt="xs">A profile that a room or a device uses cannot be deleted.</Text>
            {isOutdated && (
              <Text mt="xs" role="alert" c="var(--rk-offline)">
                The profile was changed by someone else. Nothing was deleted. Close this dialog and check the profile.
              </Text>
            )}
          </>
        )}
      </ConfirmDialog>
    </>
  )
}

// Deletes a profile, after saying when that is possible. [contract 5.4.profile]
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
  const [isAsking, setAsking] = useState(false)
  const remove = useWrite('profilesDelete', {
    quiet: true,
    successText: `The profile ${name} was deleted.`,
    onDone: () => navigate({ to: '/profiles', ignoreBlocker: true }),
  })
  const isHeld = remove.error instanceof ApiError && remove.error.body?.code === 'FAILED_PRECONDITION'
  const isMoved = isConcurrentChange(remove.error)
  return (
    <>
      <Button variant="default" c="var(--rk-offline)" leftSection={<BinIcon />} onClick={() => setAsking(true)}>
        Delete profile
      </Button>
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete the profile ${name}?`}
        verb="Delete profile"
        mutation={remove}
        blocked={isHeld}
        {...((isHeld || isMoved) && { error: null })}
        onConfirm={() => remove.mutate({ input: { id }, ifMatch: etag })}
      >
        {isHeld ? (
          <Text role="alert">
            Nothing was deleted: a room or a device still has this profile. Give them another profile on their own
            pages, or none. Then come back.
          </Text>
        ) : (
          <>
            <Text>
              A profile can be deleted only when no room and no device has it any more. If one still has it, nothing
              happens and you are told.
            </Text>
            <Text mt="xs">Its name, description and settings are gone for good.</Text>
            {isMoved && (
              <Text mt="xs" role="alert" c="var(--rk-offline)">
                Somebody changed it meanwhile, so nothing was deleted. Close this, look at it again, then decide.
              </Text>
            )}
          </>
        )}
      </ConfirmDialog>
    </>
  )
}

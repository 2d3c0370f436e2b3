// A new room: a name, perhaps a location, and then its page with the code that devices enrol with.
import { Button, Modal, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { longestName } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import { PlusIcon } from '../../parts/page/icons.tsx'
import { LoadingBoundary } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { LocationSelect } from '../site/location-select.tsx'
import { useSites } from '../site/sites.ts'

interface NewRoomButtonProps {
  /** Where the new room is offered to be. */
  readonly location?: string | undefined
}

/** Nothing for those who may not write. */
export function NewRoomButton({ location }: NewRoomButtonProps) {
  const may = usePermissions()
  const [opened, dialog] = useDisclosure(false)
  if (!may.write) return null
  return (
    <>
      <Button leftSection={<PlusIcon />} onClick={dialog.open}>
        New room
      </Button>
      <Modal opened={opened} onClose={dialog.close} title="New room">
        <LoadingBoundary>
          <NewRoomForm location={location} onClose={dialog.close} />
        </LoadingBoundary>
      </Modal>
    </>
  )
}

interface NewRoomFormProps extends NewRoomButtonProps {
  readonly onClose: () => void
}

function NewRoomForm({ location, onClose }: NewRoomFormProps) {
  const { locations, locationById } = useSites()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [locationId, setLocationId] = useState(locationById.get(Number(location))?.id ?? null)
  const create = useWrite('roomsCreate', {
    quiet: true,
    successText: (room) => `${room.name} was created.`,
    onDone: (room) => void navigate({ to: '/rooms/$roomId', params: { roomId: String(room.id) } }),
  })
  return (
    <DialogForm
      verb="Create the room"
      canSubmit={name.trim() !== ''}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={() => create.mutate({ input: { body: { name: name.trim(), locationId } } })}
      onCancel={onClose}
    >
      <TextInput
        label="Name"
        description="As it stands beside the door."
        value={name}
        maxLength={longestName}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <LocationSelect
        value={locationId}
        onChange={setLocationId}
        description={
          locations.length === 0
            ? 'There are none yet: Sites is where they are made. A room can do without.'
            : 'A room can do without.'
        }
        disabled={locations.length === 0}
      />
      <Text fz="sm" c="dimmed">
        Its page has the code, and a QR code, with which devices enrol.
      </Text>
    </DialogForm>
  )
}

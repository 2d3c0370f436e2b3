// The button and the dialog that create a room; the page of the new room opens afterwards, unless the caller needs the room for something.
import { Button, Modal, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { placedRoomName } from '../../../../contract/fleet/room-name.ts'
import { maxNameLength } from '../../../../contract/shape.ts'
import { useWrite } from '../../../api.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { PlusIcon } from '../../../parts/page/icons.tsx'
import { LoadingBoundary } from '../../../parts/page/page.tsx'
import { usePermissions, useSession } from '../../../session.ts'
import { LocationSelect } from '../site/location-select.tsx'
import { useSites } from '../site/sites.ts'

interface NewRoomButtonProps {
  /** The id of the location that is selected at first. */
  readonly location?: string | undefined
  /** The page of the new room opens if it is absent. */
  readonly onCreated?: (roomId: number) => void
}

/** Renders nothing without write access. */
export function NewRoomButton(props: NewRoomButtonProps) {
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
          <NewRoomForm {...props} onClose={dialog.close} />
        </LoadingBoundary>
      </Modal>
    </>
  )
}

interface NewRoomFormProps extends NewRoomButtonProps {
  readonly onClose: () => void
}

function NewRoomForm({ location, onCreated, onClose }: NewRoomFormProps) {
  const { locations, locationById } = useSites()
  const { allRegions } = useSession()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [locationId, setLocationId] = useState(locationById.get(Number(location))?.id ?? null)
  const create = useWrite('roomsCreate', {
    quiet: true,
    successText: (room) => `Created ${placedRoomName(room.name, room.location?.name)}`,
    onDone: ({ id }) => {
      if (!onCreated) return void navigate({ to: '/rooms/$roomId', params: { roomId: String(id) } })
      onClose()
      onCreated(id)
    },
  })
  return (
    <DialogForm
      verb="Create room"
      canSubmit={name.trim() !== '' && (allRegions || locationId !== null)}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={() => create.mutate({ input: { body: { name: name.trim(), locationId } } })}
      onCancel={onClose}
    >
      <TextInput
        label="Name"
        description="As on the door sign"
        value={name}
        maxLength={maxNameLength}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <LocationSelect
        value={locationId}
        onChange={setLocationId}
        description={locationHint(allRegions, locations.length) || undefined}
        disabled={locations.length === 0}
      />
      {!onCreated && (
        <Text fz="sm" c="dimmed">
          Next: enrol devices with the room’s code.
        </Text>
      )}
    </DialogForm>
  )
}

/** A room without a location is visible only to those who see all regions. */
const locationHint = (allRegions: boolean, locationCount: number): string =>
  [...(allRegions ? ['Optional.'] : []), ...(locationCount === 0 ? ['Add locations under Sites.'] : [])].join(' ')

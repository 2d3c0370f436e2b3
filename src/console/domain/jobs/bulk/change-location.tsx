// The button and dialog that change the location of all selected rooms.
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { plural } from '../../../parts/text/words.ts'
import { usePermissions } from '../../../session.ts'
import { LocationSelect } from '../../fleet/site/location-select.tsx'
import { locationLabel, useSites } from '../../fleet/site/sites.ts'
import { moveRooms } from './location-notice.tsx'
import type { LocationChange } from './room-locations.ts'

interface SelectedRoom {
  readonly id: number
  readonly name: string
  readonly location?: { readonly id: number } | undefined
}

interface ChangeLocationProps {
  readonly rooms: readonly SelectedRoom[]
  readonly onDone: () => void
}

export function ChangeLocation({ rooms, onDone }: ChangeLocationProps) {
  const { write } = usePermissions()
  /** The rooms as they were when the dialog opened: the list changes while it is open. */
  const [opened, setOpened] = useState<readonly SelectedRoom[] | undefined>()
  if (!write) return null
  return (
    <>
      <Button variant="subtle" size="compact-sm" style={{ flex: 'none' }} onClick={() => setOpened(rooms)}>
        Change location
      </Button>
      {opened && <ChangeLocationDialog rooms={opened} onClose={() => setOpened(undefined)} onDone={onDone} />}
    </>
  )
}

interface DialogProps extends ChangeLocationProps {
  readonly onClose: () => void
}

function ChangeLocationDialog({ rooms, onClose, onDone }: DialogProps) {
  const [locationId, setLocationId] = useState<number | null>(null)
  const { locationById } = useSites()
  const location = locationId === null ? undefined : locationById.get(locationId)
  const to = location ? locationLabel(location) : ''
  const changes = rooms
    .map(({ id, name, location: present }): LocationChange => ({ id, name, from: present?.id ?? null, to: locationId }))
    .filter(({ from }) => from !== locationId)
  const start = () => {
    void moveRooms(changes, to)
    onClose()
    onDone()
  }
  return (
    <Modal opened onClose={onClose} title={`Change location: ${plural(rooms.length, 'room')}`} size="lg">
      <Stack>
        <LocationSelect value={locationId} onChange={setLocationId} isRequired />
        <Text fz="sm" role="status">
          {location ? summaryOf(changes.length, rooms.length - changes.length, to) : 'Choose a location.'}
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={!location || changes.length === 0} onClick={start}>
            {location && changes.length > 0 ? `Move ${plural(changes.length, 'room')} to ${to}` : 'Change location'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function summaryOf(changing: number, present: number, to: string): string {
  const there = `${plural(present, 'room')} ${present === 1 ? 'is' : 'are'} already there.`
  if (changing === 0) return there
  const effect = `The rooms get the region, time zone and change window of ${to}. The devices stay in their rooms.`
  return present === 0 ? effect : `${there} ${effect}`
}

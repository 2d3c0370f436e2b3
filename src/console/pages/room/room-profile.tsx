// The profile of a room: which one, which devices differ, and another one for all of them.
import { Button, List, Modal, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useBody, useWrite } from '../../api.ts'
import { deviceName } from '../../domain/device/device.ts'
import { ProfileForm } from '../../domain/device/profile-form.tsx'
import type { RoomDetails } from '../../domain/room/room.ts'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { LoadingBoundary, Section } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'

export function RoomProfile({ room }: { readonly room: RoomDetails }) {
  const { profiles } = useBody('profilesList')
  const { write } = usePermissions()
  const [isOpen, setOpen] = useState(false)
  const nameOf = (id: number | undefined) => profiles.find((one) => one.id === id)?.name
  const name = nameOf(room.profileId)
  const others = room.endpoints.filter(({ profileId }) => profileId !== room.profileId)
  const close = () => setOpen(false)
  return (
    <Section
      title="Profile"
      actions={
        write && (
          <Button variant="default" size="xs" onClick={() => setOpen(true)}>
            Change profile
          </Button>
        )
      }
    >
      <Text fz="sm" style={{ overflowWrap: 'anywhere' }}>
        {room.profileId !== undefined && name !== undefined ? (
          <Link to="/profiles/$profileId" params={{ profileId: String(room.profileId) }}>
            {name}
          </Link>
        ) : (
          'No profile: each device is set up by itself.'
        )}
      </Text>
      {others.length > 0 && (
        <>
          <Text fz="sm" mt="xs">
            Not with the profile of the room:
          </Text>
          <List fz="sm">
            {others.map((device) => (
              <List.Item key={device.id} style={{ overflowWrap: 'anywhere' }}>
                {deviceName(device)}: {nameOf(device.profileId) ?? 'no profile'}
              </List.Item>
            ))}
          </List>
        </>
      )}
      <Modal opened={isOpen} onClose={close} title="Change profile">
        <LoadingBoundary>
          <ChangeProfile room={room} onClose={close} />
        </LoadingBoundary>
      </Modal>
    </Section>
  )
}

interface ChangeProfileProps {
  readonly room: RoomDetails
  readonly onClose: () => void
}

function ChangeProfile({ room, onClose }: ChangeProfileProps) {
  const { now, seen, reload } = useBaseline('roomsGet', { id: room.id })
  const before = seen.body.profileId
  const write = useWrite('roomsAssignProfile', {
    quiet: true,
    successText: 'The profile of the room was changed.',
    onDone: onClose,
  })
  // The version also moves when a device joins or leaves: what is edited here is still what was seen.
  const ifMatch = before === now.body.profileId ? now.etag : seen.etag
  const count = room.endpoints.length
  const canRepeat = room.endpoints.some(({ profileId }) => profileId !== before)
  return (
    <ProfileForm
      key={seen.etag}
      before={before}
      verb={() => 'Change profile'}
      canRepeat={canRepeat}
      isBusy={write.isPending}
      error={write.error}
      onAssign={(profileId) => write.mutate({ input: { id: room.id, body: { profileId } }, ifMatch })}
      onCancel={onClose}
      onReload={() => reload(write.reset)}
    >
      {(chosen) => (canRepeat || chosen !== (before ?? null) ? whatChanges(count, chosen) : whatIs(count, chosen))}
    </ProfileForm>
  )
}

const laterOnes = 'The room has no devices now. Those that enrol here later take its profile.'

function whatChanges(count: number, chosen: number | null): string {
  if (count === 0) return laterOnes
  if (count === 1) {
    return chosen === null
      ? 'The device in the room loses its profile, and keeps what was set for it.'
      : 'The device in the room takes this profile, also if it has another one now.'
  }
  const all = count === 2 ? 'Both devices' : `All ${count} devices`
  return chosen === null
    ? `${all} in the room lose their profile, and keep what was set for each of them.`
    : `${all} in the room take this profile, also those that have another one now.`
}

function whatIs(count: number, chosen: number | null): string {
  if (count === 0) return laterOnes
  return chosen === null
    ? 'Neither the room nor a device in it has a profile now.'
    : 'The room has this profile now, and so has every device in it.'
}

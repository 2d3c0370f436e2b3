// Shows the profile of a room and the devices that have another one, and changes the profile of all devices.

import { Button, List, Modal, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { hasProfilesOfSource } from '../../../contract/fleet/drivers.ts'
import { capitalised } from '../../../contract/words.ts'
import { useBody, useWrite } from '../../api.ts'
import { canHaveProfile, deviceName } from '../../domain/fleet/device/device.ts'
import { ProfileForm } from '../../domain/fleet/device/profile-form.tsx'
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { LoadingBoundary, Section } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'

export function ProfileSection({ room }: { readonly room: RoomDetails }) {
  const { profiles } = useBody('profilesList')
  const { write } = usePermissions()
  const [isOpen, setOpen] = useState(false)
  const nameOf = (id: number | undefined) => profiles.find((one) => one.id === id)?.name
  const name = nameOf(room.profileId)
  const differingDevices = room.endpoints.filter(
    (device) => canHaveProfile(device) && device.profileId !== room.profileId,
  )
  const mirroredDevices = room.endpoints.filter(({ sourceType }) => hasProfilesOfSource(sourceType))
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
          'No profile. Each device uses its own settings.'
        )}
      </Text>
      {differingDevices.length > 0 && (
        <>
          <Text fz="sm" mt="xs">
            Devices with a different profile:
          </Text>
          <List fz="sm">
            {differingDevices.map((device) => (
              <List.Item key={device.id} style={{ overflowWrap: 'anywhere' }}>
                {deviceName(device)}: {nameOf(device.profileId) ?? 'no profile'}
              </List.Item>
            ))}
          </List>
        </>
      )}
      {mirroredDevices.length > 0 && (
        <Text fz="sm" mt="xs" style={{ overflowWrap: 'anywhere' }}>
          Not for {mirroredDevices.map(deviceName).join(', ')}: settings and profiles come from Neat Pulse.
        </Text>
      )}
      <Modal opened={isOpen} onClose={close} title="Change profile">
        <LoadingBoundary>
          <ChangeProfileForm room={room} onClose={close} />
        </LoadingBoundary>
      </Modal>
    </Section>
  )
}

interface ChangeProfileFormProps {
  readonly room: RoomDetails
  readonly onClose: () => void
}

function ChangeProfileForm({ room, onClose }: ChangeProfileFormProps) {
  const { now, seen, reload } = useBaseline('roomsGet', { id: room.id })
  const before = seen.body.profileId
  const write = useWrite('roomsAssignProfile', {
    quiet: true,
    successText: 'Profile changed',
    onDone: onClose,
  })
  // The ETag also changes when a device joins or leaves. While the profile is unchanged, the new ETag is used.
  const ifMatch = before === now.body.profileId ? now.etag : seen.etag
  const devices = room.endpoints.filter(canHaveProfile)
  const count = devices.length
  const canRepeat = devices.some(({ profileId }) => profileId !== before)
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
      {(chosen) =>
        canRepeat || chosen !== (before ?? null) ? effectText(count, chosen) : unchangedText(count, chosen)
      }
    </ProfileForm>
  )
}

const emptyRoomText = (chosen: number | null) =>
  chosen === null
    ? 'There is no device that takes a profile yet. Devices enrolled later will get no profile.'
    : 'There is no device that takes a profile yet. Devices enrolled later will get this profile.'

function effectText(count: number, chosen: number | null): string {
  if (count === 0) return emptyRoomText(chosen)
  if (count === 1) {
    return chosen === null
      ? 'The profile is removed from the device. The device keeps its own settings.'
      : 'The device gets this profile in place of any other.'
  }
  const all = count === 2 ? 'both devices' : `all ${count} devices`
  return chosen === null
    ? `The profile is removed from ${all}. Each device keeps its own settings.`
    : `${capitalised(all)} get this profile in place of any other.`
}

function unchangedText(count: number, chosen: number | null): string {
  if (count === 0) return emptyRoomText(chosen)
  return chosen === null
    ? 'No profile is assigned to this room or its devices.'
    : 'This profile is already assigned to this room and all its devices.'
}

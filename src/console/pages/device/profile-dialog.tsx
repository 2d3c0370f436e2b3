// Assigns a profile to a device or removes it.
import { Modal } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api.ts'
import { type Device, deviceName } from '../../domain/device/device.ts'
import { ProfileForm } from '../../domain/device/profile-form.tsx'
import { useSeen } from '../../parts/dialog/concurrent-change.ts'
import { Waiting } from '../../parts/page/page.tsx'

interface ProfileDialogProps {
  readonly device: Device
  readonly opened: boolean
  readonly onClose: () => void
}

export const ProfileDialog = ({ device, opened, onClose }: ProfileDialogProps) => (
  <Modal opened={opened} onClose={onClose} title={`Profile of ${deviceName(device)}`}>
    <Waiting>
      <DeviceProfileForm id={device.id} onClose={onClose} />
    </Waiting>
  </Modal>
)

function DeviceProfileForm({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { seen, loadAgain } = useSeen('endpointsGet', { id })
  const before = seen.body.profileId
  const [isCleared, setCleared] = useState(false)
  const write = useWrite('endpointsAssignProfile', {
    quiet: true,
    said: isCleared ? 'Profile removed' : 'Profile assigned',
    onDone: onClose,
  })
  return (
    <ProfileForm
      key={seen.etag}
      before={before}
      verb={(chosen) => (chosen === null && before !== undefined ? 'Remove profile' : 'Assign profile')}
      isBusy={write.isPending}
      error={write.error}
      onAssign={(profileId) => {
        setCleared(profileId === null)
        write.mutate({ input: { id, body: { profileId } }, ifMatch: seen.etag })
      }}
      onCancel={onClose}
      loadAgain={() => loadAgain(write.reset)}
    >
      {() =>
        'The settings of a profile are locked on the device. The device’s own values return when the profile is removed.'
      }
    </ProfileForm>
  )
}

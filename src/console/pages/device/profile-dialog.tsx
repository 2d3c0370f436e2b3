// Assigns a profile to a device or removes it.
import { Modal } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api.ts'
import { type DeviceDetails, deviceName } from '../../domain/fleet/device/device.ts'
import { ProfileForm } from '../../domain/fleet/device/profile-form.tsx'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { LoadingBoundary } from '../../parts/page/page.tsx'

interface ProfileDialogProps {
  readonly device: DeviceDetails
  readonly opened: boolean
  readonly onClose: () => void
}

export const ProfileDialog = ({ device, opened, onClose }: ProfileDialogProps) => (
  <Modal opened={opened} onClose={onClose} title={`Profile of ${deviceName(device)}`}>
    <LoadingBoundary>
      <DeviceProfileForm id={device.id} onClose={onClose} />
    </LoadingBoundary>
  </Modal>
)

function DeviceProfileForm({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { seen, reload } = useBaseline('endpointsGet', { id })
  const before = seen.body.profileId
  const [isCleared, setCleared] = useState(false)
  const write = useWrite('endpointsAssignProfile', {
    quiet: true,
    successText: isCleared ? 'Profile removed' : 'Profile assigned',
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
      onReload={() => reload(write.reset)}
    >
      {() =>
        'The settings of a profile are locked on the device. The device’s own values return when the profile is removed.'
      }
    </ProfileForm>
  )
}

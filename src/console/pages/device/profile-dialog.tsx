// Gives a device a profile, another one, or none.
import { Modal } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api.ts'
import { type DeviceDetails, deviceName } from '../../domain/device/device.ts'
import { ProfileForm } from '../../domain/device/profile-form.tsx'
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
      <ProfileOfDevice id={device.id} onClose={onClose} />
    </LoadingBoundary>
  </Modal>
)

function ProfileOfDevice({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { seen, reload } = useBaseline('endpointsGet', { id })
  const before = seen.body.profileId
  const [isCleared, setCleared] = useState(false)
  const write = useWrite('endpointsAssignProfile', {
    quiet: true,
    successText: isCleared ? 'The device has no profile any more.' : 'The device has the profile.',
    onDone: onClose,
  })
  return (
    <ProfileForm
      key={seen.etag}
      before={before}
      verb={(chosen) => (chosen === null && before !== undefined ? 'Clear profile' : 'Assign profile')}
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
        'A profile fixes settings: the device gets them, and nobody can change them for this device alone. Its own settings that a profile hides come back when the profile goes.'
      }
    </ProfileForm>
  )
}

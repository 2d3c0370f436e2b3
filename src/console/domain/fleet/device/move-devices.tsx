// The dialog that moves a device and its pair group to another room. [contract 4.endpointsMoveRoom]
import { Checkbox, Modal, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { operationQuery, useWrite } from '../../../api.ts'
import classes from '../../../parts/dialog/dialog.module.css'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { plural } from '../../../parts/text/words.ts'
import { RoomSelect } from '../room/room-select.tsx'
import { RoomName } from '../site/room-link.tsx'
import { type DeviceDetails, deviceName, type ListedDevice } from './device.ts'
import { usePairGroup } from './pair-group.ts'

interface MoveDevicesProps {
  readonly device: DeviceDetails
  readonly opened: boolean
  readonly onClose: () => void
}

export const MoveDevices = ({ device, opened, onClose }: MoveDevicesProps) => (
  <Modal opened={opened} onClose={onClose} title={`Move ${deviceName(device)}`}>
    <MoveForm device={device} onClose={onClose} />
  </Modal>
)

function MoveForm({ device, onClose }: Omit<MoveDevicesProps, 'opened'>) {
  const [target, setTarget] = useState<string | null>(null)
  const [usesRoomProfile, setUsesRoomProfile] = useState(false)
  const { members, others, error } = usePairGroup(device)
  const areInOneRoom = others.every((one) => one.roomId === device.roomId)
  const write = useWrite('endpointsMoveRoom', {
    quiet: true,
    successText: ({ endpointIds }) => `Moved ${plural(endpointIds.length, 'device')}`,
    onDone: onClose,
  })
  const move = () => {
    const body = { endpointIds: [device.id], roomId: Number(target), assignRoomProfile: usesRoomProfile }
    write.mutate({ input: { body } })
  }
  return (
    <DialogForm
      verb={others.length > 0 ? `Move ${plural(others.length + 1, 'device')}` : 'Move'}
      canSubmit={target !== null && members !== undefined}
      isBusy={write.isPending}
      error={write.error ?? error}
      onSubmit={move}
      onCancel={onClose}
    >
      <MovingDevices device={device} others={others} />
      <RoomSelect
        label="To room"
        value={target}
        onChange={setTarget}
        exceptId={areInOneRoom ? device.roomId : undefined}
        hasFirstFocus
        required
      />
      <Checkbox
        label="Use the new room’s profile"
        description={<TargetProfile roomId={target === null ? undefined : Number(target)} isTaken={usesRoomProfile} />}
        checked={usesRoomProfile}
        onChange={(event) => setUsesRoomProfile(event.currentTarget.checked)}
      />
    </DialogForm>
  )
}

const MovingDevices = ({
  device,
  others,
}: {
  readonly device: DeviceDetails
  readonly others: readonly ListedDevice[]
}) => (
  <div>
    <Text fz="sm">
      Current room: <RoomName roomId={device.roomId} roomName={device.roomName} />.
      {others.length > 0 && ' Paired devices move too:'}
    </Text>
    {others.length > 0 && (
      <ul className={classes.list}>
        {others.map((one) => (
          <li key={one.id}>
            {deviceName(one)}
            {one.roomId !== device.roomId && (
              <>
                , currently in <RoomName roomId={one.roomId} roomName={one.roomName} />
              </>
            )}
          </li>
        ))}
      </ul>
    )}
  </div>
)

function TargetProfile({ roomId, isTaken }: { readonly roomId: number | undefined; readonly isTaken: boolean }) {
  const target = useQuery({ ...operationQuery('roomsGet', { id: roomId ?? 0 }), enabled: roomId !== undefined }).data
    ?.body
  const profiles = useQuery(operationQuery('profilesList')).data?.body.profiles
  const effect = isTaken ? 'The devices get the profile of the new room.' : 'The devices keep their current profile.'
  if (!target || !profiles) return effect
  const profile = profiles.find(({ id }) => id === target.profileId)
  if (profile)
    return isTaken ? `The devices get the profile ${profile.name}.` : `${effect} The room’s profile is ${profile.name}.`
  return isTaken ? 'The room has no profile, so the devices lose their current one.' : effect
}

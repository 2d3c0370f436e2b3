// Moves a device, and everything that is paired with it, to another room. [contract 4.endpointsMoveRoom]
import { Checkbox, Modal, Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { operationQuery, useWrite } from '../../api.ts'
import classes from '../../parts/dialog/dialog.module.css'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import { compareText, naturalSortKey } from '../../parts/text/search-text.ts'
import { plural } from '../../parts/text/words.ts'
import { RoomName } from '../site/room-link.tsx'
import { type DeviceDetails, deviceName, type ListedDevice } from './device.ts'
import { usePairGroup } from './pair-group.ts'

interface MoveDevicesProps {
  readonly device: DeviceDetails
  readonly opened: boolean
  readonly onClose: () => void
}

/** More than anybody reads; typing finds the others. */
const maxRoomsShown = 50

export const MoveDevices = ({ device, opened, onClose }: MoveDevicesProps) => (
  <Modal opened={opened} onClose={onClose} title={`Move ${deviceName(device)}`}>
    <MoveForm device={device} onClose={onClose} />
  </Modal>
)

function MoveForm({ device, onClose }: Omit<MoveDevicesProps, 'opened'>) {
  const [target, setTarget] = useState<string | null>(null)
  const [takesProfile, setTakesProfile] = useState(false)
  const { members, others, error } = usePairGroup(device)
  const areTogether = others.every((one) => one.roomId === device.roomId)
  const rooms = useRoomChoices(areTogether ? device.roomId : undefined)
  const write = useWrite('endpointsMoveRoom', {
    quiet: true,
    successText: ({ endpointIds }) => `${plural(endpointIds.length, 'device')} moved.`,
    onDone: onClose,
  })
  const move = () => {
    const body = { endpointIds: [device.id], roomId: Number(target), assignRoomProfile: takesProfile }
    write.mutate({ input: { body } })
  }
  return (
    <DialogForm
      verb={others.length > 0 ? `Move ${plural(others.length + 1, 'device')}` : 'Move'}
      canSubmit={target !== null && members !== undefined}
      isBusy={write.isPending}
      error={write.error ?? rooms.error ?? error}
      onSubmit={move}
      onCancel={onClose}
    >
      <MovingDevices device={device} others={others} />
      <Select
        label="To room"
        placeholder="Name or location of a room"
        data={rooms.choices}
        value={target}
        onChange={setTarget}
        searchable
        selectFirstOptionOnChange
        selectFirstOptionOnDropdownOpen={target === null}
        limit={maxRoomsShown}
        openOnFocus={false}
        withScrollArea={false}
        classNames={{ options: classes.choices }}
        nothingFoundMessage={rooms.isPending ? 'Loading…' : 'No other room has that name or location.'}
        required
        data-autofocus
      />
      <Checkbox
        label="Take the profile of that room"
        description={<TargetProfile roomId={target === null ? undefined : Number(target)} isTaken={takesProfile} />}
        checked={takesProfile}
        onChange={(event) => setTakesProfile(event.currentTarget.checked)}
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
      It is in <RoomName roomId={device.roomId} roomName={device.roomName} /> now.
      {others.length > 0 && ' What is paired with it moves along:'}
    </Text>
    {others.length > 0 && (
      <ul className={classes.list}>
        {others.map((one) => (
          <li key={one.id}>
            {deviceName(one)}
            {one.roomId !== device.roomId && (
              <>
                , now in <RoomName roomId={one.roomId} roomName={one.roomName} />
              </>
            )}
          </li>
        ))}
      </ul>
    )}
  </div>
)

/** Names repeat: the location tells rooms apart, and where that is not enough, the number. */
function useRoomChoices(exceptId: number | undefined) {
  const { data, error, isPending } = useQuery(operationQuery('roomsList'))
  const rooms = data?.body.rooms
  const choices = useMemo(() => {
    const named = (rooms ?? [])
      .filter(({ id }) => id !== exceptId)
      .map(({ id, name, location }) => ({ id, label: location ? `${name} (${location.name})` : name }))
    const times = Map.groupBy(named, ({ label }) => label)
    return named
      .map(({ id, label }) => ({ id, label: times.get(label)?.length === 1 ? label : `${label}, number ${id}` }))
      .map(({ id, label }) => ({ value: String(id), label, key: naturalSortKey(label) }))
      .sort((a, b) => compareText(a.key, b.key))
      .map(({ value, label }) => ({ value, label }))
  }, [rooms, exceptId])
  return { choices, error, isPending }
}

function TargetProfile({ roomId, isTaken }: { readonly roomId: number | undefined; readonly isTaken: boolean }) {
  const there = useQuery({ ...operationQuery('roomsGet', { id: roomId ?? 0 }), enabled: roomId !== undefined }).data
    ?.body
  const profiles = useQuery(operationQuery('profilesList')).data?.body.profiles
  const does = isTaken ? 'What moves is set up as the devices there are.' : 'What moves keeps the profile that it has.'
  if (!there || !profiles) return does
  const profile = profiles.find(({ id }) => id === there.profileId)
  if (profile) return `That room has the profile ${profile.name}. ${isTaken ? 'What moves gets it.' : does}`
  return `That room has no profile. ${isTaken ? 'What moves loses the profile that it has.' : does}`
}

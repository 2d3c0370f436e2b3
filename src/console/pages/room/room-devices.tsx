// Lists the devices of a room, each leader with its paired devices.
import { ActionIcon, Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { type DeviceDetails, deviceName } from '../../domain/fleet/device/device.ts'
import { EditDevice } from '../../domain/fleet/device/edit-device.tsx'
import { MoveDevices } from '../../domain/fleet/device/move-devices.tsx'
import type { Restarts } from '../../domain/fleet/device/restarts.ts'
import { EditIcon, LinkIcon, MoveIcon } from '../../parts/page/icons.tsx'
import { EmptyState, Section } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { type DeviceGroup, groupDevices } from './device-groups.ts'
import { DeviceLine } from './device-line.tsx'
import classes from './room.module.css'

interface RoomDevicesProps {
  readonly groups: readonly DeviceGroup[]
  readonly rejectingDevices: readonly DeviceDetails[]
  readonly restarts: Restarts
  readonly zone: string
}

export function RoomDevices({ groups, rejectingDevices, restarts, zone }: RoomDevicesProps) {
  const { operate, write } = usePermissions()
  const [moving, setMoving] = useState<DeviceDetails>()
  const [isMoving, dialog] = useDisclosure(false)
  const move = (device: DeviceDetails) => {
    setMoving(device)
    dialog.open()
  }
  const [editing, setEditing] = useState<DeviceDetails>()
  const [isEditing, editDialog] = useDisclosure(false)
  const edit = (device: DeviceDetails) => {
    setEditing(device)
    editDialog.open()
  }
  return (
    <Section title="Devices">
      {groups.length === 0 && (
        <EmptyState title="No devices in this room">
          {operate
            ? `Enrol a device with the code below${write ? ', add one behind a gateway, or move one from another room' : ''}.`
            : 'Your access does not include enrolment codes. Ask an admin to enrol a device.'}
        </EmptyState>
      )}
      <ul className={classes.groups}>
        {groups.map((group) => (
          <li key={group.leaderSerial} className={classes.group}>
            <ul className={classes.lines}>
              {groupDevices(group).map((device, index) => (
                <DeviceLine
                  key={device.id}
                  device={device}
                  hasRejectedSettings={rejectingDevices.includes(device)}
                  restartingSinceMs={restarts.get(device.id)}
                  zone={zone}
                  isFollower={device !== group.leader}
                  action={
                    write && (
                      <>
                        {index === 0 && <MoveButton group={group} device={device} onMove={move} />}
                        <EditButton device={device} onEdit={edit} />
                      </>
                    )
                  }
                />
              ))}
            </ul>
            <PairText group={group} />
          </li>
        ))}
      </ul>
      {editing && <EditDevice device={editing} opened={isEditing} onClose={editDialog.close} />}
      {moving && <MoveDevices device={moving} opened={isMoving} onClose={dialog.close} />}
    </Section>
  )
}

function PairText({ group: { leader, leaderSerial, followers } }: { readonly group: DeviceGroup }) {
  if (followers.length === 0) return null
  return (
    <Text fz="xs" c="dimmed" component="span" className={classes.pair}>
      <LinkIcon size={14} />
      {leader ? `Paired with ${deviceName(leader)}` : `Paired with ${leaderSerial}, which is not in this room`}
    </Text>
  )
}

interface MoveButtonProps {
  readonly group: DeviceGroup
  readonly device: DeviceDetails
  readonly onMove: (device: DeviceDetails) => void
}

const MoveButton = ({ group, device, onMove }: MoveButtonProps) => (
  <Button
    variant="default"
    size="xs"
    leftSection={<MoveIcon size={16} />}
    onClick={() => onMove(device)}
    aria-label={`Move ${deviceName(device)}${group.followers.length > 0 ? ' and its paired devices' : ''}`}
  >
    Move
  </Button>
)

interface EditButtonProps {
  readonly device: DeviceDetails
  readonly onEdit: (device: DeviceDetails) => void
}

const EditButton = ({ device, onEdit }: EditButtonProps) => (
  <ActionIcon variant="default" size={30} onClick={() => onEdit(device)} aria-label={`Edit ${deviceName(device)}`}>
    <EditIcon size={16} />
  </ActionIcon>
)

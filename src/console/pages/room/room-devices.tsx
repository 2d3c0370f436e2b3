// The devices of a room, each leader with what is paired with it.
import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { type Device, deviceName } from '../../parts/device.ts'
import { LinkIcon, MoveIcon } from '../../parts/icons.tsx'
import { MoveDevices } from '../../parts/move-devices.tsx'
import { Empty, Section } from '../../parts/page.tsx'
import type { Room } from '../../parts/room.ts'
import { plural } from '../../parts/words.ts'
import { useMay } from '../../session.ts'
import { type DeviceGroup, deviceGroups, namesOthers } from './device-groups.ts'
import { DeviceLine } from './device-line.tsx'
import classes from './room.module.css'

interface RoomDevicesProps {
  readonly room: Room
  readonly refusing: readonly Device[]
  readonly zone: string
}

export function RoomDevices({ room, refusing, zone }: RoomDevicesProps) {
  const { write } = useMay()
  const [moving, setMoving] = useState<Device>()
  const { data } = useQuery({ ...ask('endpointsBasicList'), enabled: namesOthers(room.endpoints) })
  const groups = deviceGroups(room.endpoints, data?.body.endpoints ?? [])
  const [isMoving, dialog] = useDisclosure(false)
  const move = (device: Device) => {
    setMoving(device)
    dialog.open()
  }
  return (
    <Section title="Devices">
      {groups.length === 0 && (
        <Empty title="No device is in this room yet.">
          {write
            ? 'Give a device the enrolment code below, or move one here from the page of another room.'
            : 'Somebody whose key can write sees the enrolment code here.'}
        </Empty>
      )}
      <ul className={classes.groups}>
        {groups.map((group) => (
          <li key={group.leaderSerial} className={classes.group}>
            <ul className={classes.lines}>
              {membersOf(group).map((device, index) => (
                <DeviceLine
                  key={device.id}
                  device={device}
                  isRefusing={refusing.includes(device)}
                  zone={zone}
                  isFollower={device !== group.leader}
                  action={write && index === 0 && <MoveButton group={group} device={device} onMove={move} />}
                />
              ))}
            </ul>
            <PairText group={group} />
          </li>
        ))}
      </ul>
      {moving && <MoveDevices device={moving} opened={isMoving} onClose={dialog.close} />}
    </Section>
  )
}

function PairText({ group: { leader, leaderSerial, followers } }: { readonly group: DeviceGroup }) {
  if (followers.length === 0) return null
  return (
    <Text fz="xs" c="dimmed" component="span" className={classes.pair}>
      <LinkIcon size={14} />
      {leader
        ? `${plural(followers.length, 'device')} paired with ${deviceName(leader)}`
        : `Paired with ${leaderSerial}, which is not in this room`}
    </Text>
  )
}

interface MoveButtonProps {
  readonly group: DeviceGroup
  readonly device: Device
  readonly onMove: (device: Device) => void
}

const MoveButton = ({ group, device, onMove }: MoveButtonProps) => (
  <Button
    variant="default"
    size="xs"
    leftSection={<MoveIcon size={16} />}
    onClick={() => onMove(device)}
    aria-label={`Move ${deviceName(device)}${group.followers.length > 0 ? ' and what is paired with it' : ''}`}
  >
    Move
  </Button>
)

const membersOf = ({ leader, followers }: DeviceGroup): Device[] => [...(leader ? [leader] : []), ...followers]

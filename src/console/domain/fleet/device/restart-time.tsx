// Chooses when devices restart: now, when their room is empty, or in the change window. [contract 12.when]
import { Radio, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RebootTime } from '../../../../contract/fleet/commands.ts'
import { operationQuery } from '../../../api.ts'
import { callText, type ListedDevice } from './device.ts'

type PlacedDevice = Pick<ListedDevice, 'connected' | 'inCallStatus' | 'roomId'>

export interface RestartChoice {
  readonly when: RebootTime
  /** A device that is offline can only restart later. */
  readonly isNowPossible: boolean
  /** People are counted in a room of the devices. */
  readonly hasPeople: boolean
  /** The number of people in the rooms is still being read. */
  readonly isLoading: boolean
  readonly choose: (when: RebootTime) => void
}

/** A restart in a call or in front of people would disturb them, so it waits unless a person chooses otherwise. */
export function useRestartTime(
  devices: readonly PlacedDevice[],
  { isNowPossible, isOpen }: { readonly isNowPossible: boolean; readonly isOpen: boolean },
): RestartChoice {
  const [chosen, choose] = useState<RebootTime>()
  const rooms = useQuery({ ...operationQuery('roomsList'), enabled: isOpen })
  const connected = devices.filter((device) => device.connected)
  const roomIds = new Set(connected.map(({ roomId }) => roomId))
  const hasPeople = (rooms.data?.body.rooms ?? []).some(({ id, people = 0 }) => people > 0 && roomIds.has(id))
  const isBusy = hasPeople || connected.some(({ inCallStatus }) => callText(inCallStatus))
  const waits = isBusy || !isNowPossible
  const isChosenPossible = chosen !== undefined && (chosen !== 'now' || isNowPossible)
  return {
    when: isChosenPossible ? chosen : waits ? 'idle' : 'now',
    isNowPossible,
    hasPeople,
    isLoading: rooms.isPending,
    choose,
  }
}

export const RestartTime = ({
  when,
  isNowPossible,
  choose,
  limitText = '24 hours',
}: Pick<RestartChoice, 'when' | 'isNowPossible' | 'choose'> & {
  /** How long the restart waits before it is given up. */
  readonly limitText?: string
}) => (
  <Radio.Group label="When" value={when} onChange={(value) => choose(value as RebootTime)} mt="sm">
    <Stack gap={6} mt={6}>
      {isNowPossible && <Radio value="now" label="Now" />}
      <Radio
        value="idle"
        label={isNowPossible ? 'When the room is empty' : 'When the device is online and the room is empty'}
        description={`Waits up to ${limitText} for 10 quiet minutes.`}
      />
      <Radio
        value="window"
        label="In the change window"
        description={`Waits up to ${limitText} for the window and an empty room.`}
      />
    </Stack>
  </Radio.Group>
)

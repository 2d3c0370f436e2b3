// The choices of the fields that choose devices: rooms, models, firmware versions and tags.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { modelOf } from '../../../../contract/device/models.ts'
import { operationQuery } from '../../../api.ts'
import { deviceInRoom } from '../../../domain/fleet/device/device.ts'
import { type Choice, sortChoices } from '../../../domain/fleet/room/room-choices.ts'
import { useNamedRooms } from '../../../domain/fleet/room/room-names.ts'

/** The tags that rooms have. */
export function useKnownTags(): string[] {
  const rooms = useQuery(operationQuery('roomsList')).data?.body.rooms
  return useMemo(() => [...new Set((rooms ?? []).flatMap(({ tags }) => tags ?? []))].sort(), [rooms])
}

interface DeviceChoices {
  readonly devices: Choice[]
  readonly models: Choice[]
  readonly firmwareVersions: Choice[]
}

/** The devices, and the models and firmware versions that they have. */
export function useDeviceChoices(): DeviceChoices {
  const devices = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints
  const rooms = useNamedRooms()
  return useMemo(() => {
    const models = new Set((devices ?? []).map(({ model }) => model))
    const versions = new Set((devices ?? []).flatMap(({ firmwareVersion }) => firmwareVersion ?? []))
    return {
      devices: sortChoices((devices ?? []).map((one) => ({ value: one.id, label: deviceInRoom(one, rooms) }))),
      models: sortChoices([...models].map((value) => ({ value, label: modelOf(value).name }))),
      firmwareVersions: sortChoices([...versions].map((value) => ({ value, label: value }))),
    }
  }, [devices, rooms])
}

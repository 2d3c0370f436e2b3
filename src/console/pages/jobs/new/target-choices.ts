// The choices of the fields that choose devices: rooms, models, firmware versions and tags.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { modelOf } from '../../../../contract/device/models.ts'
import { operationQuery } from '../../../api.ts'
import { type Choice, sortChoices } from '../../../domain/fleet/room/room-choices.ts'

/** The tags that rooms have. */
export function useKnownTags(): string[] {
  const rooms = useQuery(operationQuery('roomsList')).data?.body.rooms
  return useMemo(() => [...new Set((rooms ?? []).flatMap(({ tags }) => tags ?? []))].sort(), [rooms])
}

/** The models and firmware versions that devices have. */
export function useDeviceChoices(): { readonly models: Choice[]; readonly firmwareVersions: Choice[] } {
  const devices = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints
  return useMemo(() => {
    const models = new Set((devices ?? []).map(({ model }) => model))
    const versions = new Set((devices ?? []).flatMap(({ firmwareVersion }) => firmwareVersion ?? []))
    return {
      models: sortChoices([...models].map((value) => ({ value, label: modelOf(value).name }))),
      firmwareVersions: sortChoices([...versions].map((value) => ({ value, label: value }))),
    }
  }, [devices])
}

// The target of a job for selected devices. A list of ids has a limit, so a large selection is described by what its devices have in common.
import { maxTargetValues } from '../../../../contract/jobs/job-request.ts'
import type { JobDraft } from '../job.ts'

export type BulkTarget = JobDraft['target']

export interface SelectableDevice {
  readonly id: string
  readonly roomId?: number | undefined
  readonly location?: { readonly id: number; readonly region?: { readonly id: number } | undefined } | undefined
  readonly model?: string | undefined
  readonly profileId?: number | undefined
  readonly firmwareVersion?: string | undefined
}

type Key = 'roomIds' | 'locationIds' | 'regionIds' | 'models' | 'profileIds' | 'firmwareVersions'
const readers: Readonly<Record<Key, (device: SelectableDevice) => number | string | undefined>> = {
  roomIds: ({ roomId }) => roomId,
  locationIds: ({ location }) => location?.id,
  regionIds: ({ location }) => location?.region?.id,
  models: ({ model }) => model,
  profileIds: ({ profileId }) => profileId,
  firmwareVersions: ({ firmwareVersion }) => firmwareVersion,
}

/** Places alone come first, because they are the easiest to read on the page of the job. */
const attributes: readonly (readonly Key[])[] = [
  [],
  ['models'],
  ['profileIds'],
  ['firmwareVersions'],
  ['models', 'profileIds'],
  ['models', 'firmwareVersions'],
  ['profileIds', 'firmwareVersions'],
  ['models', 'profileIds', 'firmwareVersions'],
]
const places: readonly (readonly Key[])[] = [['roomIds'], ['locationIds'], ['regionIds'], []]
const combinations = attributes.flatMap((others) => places.map((place) => [...place, ...others]))

/**
 * Returns the ids of the devices, or the places, models, profiles and firmware versions that they have, without the other devices that have
 * them too. Undefined if no list is short enough.
 */
export function deviceTarget(
  selected: readonly SelectableDevice[],
  all: readonly SelectableDevice[],
): BulkTarget | undefined {
  const ids = new Set(selected.map(({ id }) => id))
  if (ids.size <= maxTargetValues.endpointIds) return { endpointIds: [...ids] }
  const values = new Map(
    (Object.keys(readers) as Key[]).map((key) => [key, new Set(selected.map(readers[key]))] as const),
  )
  const fits = (key: Key) => !values.get(key)?.has(undefined) && (values.get(key)?.size ?? 0) <= maxTargetValues[key]
  for (const keys of combinations) {
    if (keys.length === 0 || !keys.every(fits)) continue
    const matches = (device: SelectableDevice) => keys.every((key) => values.get(key)?.has(readers[key](device)))
    const others = all.filter((device) => !ids.has(device.id) && matches(device)).map(({ id }) => id)
    if (others.length > maxTargetValues.endpointIds) continue
    const target = Object.fromEntries(keys.map((key) => [key, [...(values.get(key) ?? [])]])) as BulkTarget
    return others.length === 0 ? target : { ...target, exclude: { endpointIds: others } }
  }
  return undefined
}

/** Selected rooms are targeted with all of their devices. */
export function roomTarget(roomIds: readonly number[], all: readonly SelectableDevice[]): BulkTarget | undefined {
  if (roomIds.length <= maxTargetValues.roomIds) return { roomIds: [...roomIds] }
  const wanted = new Set<number | undefined>(roomIds)
  return deviceTarget(
    all.filter(({ roomId }) => wanted.has(roomId)),
    all,
  )
}

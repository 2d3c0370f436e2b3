// The target of a job for selected devices. A list of ids has a limit, so a large selection is described by its rooms or sites.
import { maxTargetValues } from '../../../contract/jobs/job-request.ts'
import type { JobDraft } from '../job/job.ts'

export type BulkTarget = JobDraft['target']

export interface PlacedDevice {
  readonly id: string
  readonly roomId?: number | undefined
  readonly location?: { readonly id: number; readonly region?: { readonly id: number } | undefined } | undefined
}

type Place = readonly [key: 'roomIds' | 'locationIds' | 'regionIds', idOf: (device: PlacedDevice) => number | undefined]
const places: readonly Place[] = [
  ['roomIds', ({ roomId }) => roomId],
  ['locationIds', ({ location }) => location?.id],
  ['regionIds', ({ location }) => location?.region?.id],
]

/** Returns the ids of the devices, or whole places without the devices in them that are not selected. Undefined if neither fits. */
export function deviceTarget(selected: readonly PlacedDevice[], all: readonly PlacedDevice[]): BulkTarget | undefined {
  const ids = new Set(selected.map(({ id }) => id))
  if (ids.size <= maxTargetValues.endpointIds) return { endpointIds: [...ids] }
  for (const [key, idOf] of places) {
    const placeIds = new Set(selected.map(idOf))
    if (placeIds.has(undefined) || placeIds.size > maxTargetValues[key]) continue
    const others = all.filter((device) => placeIds.has(idOf(device)) && !ids.has(device.id)).map(({ id }) => id)
    if (others.length > maxTargetValues.endpointIds) continue
    const target = { [key]: [...placeIds] as number[] }
    return others.length === 0 ? target : { ...target, exclude: { endpointIds: others } }
  }
  return undefined
}

/** Selected rooms are targeted with all of their devices. */
export function roomTarget(roomIds: readonly number[], all: readonly PlacedDevice[]): BulkTarget | undefined {
  if (roomIds.length <= maxTargetValues.roomIds) return { roomIds: [...roomIds] }
  const wanted = new Set<number | undefined>(roomIds)
  return deviceTarget(
    all.filter(({ roomId }) => wanted.has(roomId)),
    all,
  )
}

// Jobs without the places and endpoints that the caller does not see. [contract 12.rights]

import type { OrgReader } from '../db/handles.ts'
import { listEndpointsById } from '../fleet/endpoints/store.ts'
import { actionOfJob, type JobRow, type Target, targetOfJob } from './rows.ts'
import { listLocationIds, listRegionIds, listRoomIds } from './visible-target-store.ts'

type TargetKeys = Omit<Target, 'exclude'>

/** A key of which nothing is visible is left out. */
export async function visibleTarget(on: OrgReader, row: Pick<JobRow, 'target'>): Promise<Target> {
  const { exclude, ...include } = targetOfJob(row)
  if (on.access.isEverything) return { ...include, ...(exclude && { exclude }) }
  const excluded = exclude && (await visibleKeys(on, exclude))
  const hasExclusion = excluded !== undefined && Object.keys(excluded).length > 0
  return { ...(await visibleKeys(on, include)), ...(hasExclusion && { exclude: excluded }) }
}

async function visibleKeys(on: OrgReader, keys: TargetKeys): Promise<TargetKeys> {
  const seen = async <I>(ids: readonly I[] | undefined, find: (ids: readonly I[]) => Promise<{ id: I }[]>) => {
    if (!ids) return undefined
    const visible = new Set((await find(ids)).map(({ id }) => id))
    const shown = ids.filter((id) => visible.has(id))
    return shown.length > 0 ? shown : undefined
  }
  const { regionIds, locationIds, roomIds, endpointIds, ...others } = keys
  const [regions, locations, rooms, endpoints] = [
    await seen(regionIds, (ids) => listRegionIds(on, { ids })),
    await seen(locationIds, (ids) => listLocationIds(on, { ids })),
    await seen(roomIds, (ids) => listRoomIds(on, { ids })),
    await seen(endpointIds, (ids) => listEndpointsById(on, { ids })),
  ]
  return {
    ...(regions && { regionIds: regions }),
    ...(locations && { locationIds: locations }),
    ...(rooms && { roomIds: rooms }),
    ...(endpoints && { endpointIds: endpoints }),
    ...others,
  }
}

/** Takes the room of a move out of jobs if the caller does not see it. */
export async function withVisibleActions<R extends Pick<JobRow, 'action'>>(
  on: OrgReader,
  rows: readonly R[],
): Promise<readonly R[]> {
  if (on.access.isEverything) return rows
  const ids = rows.flatMap((row) => actionOfJob(row).roomId ?? [])
  if (ids.length === 0) return rows
  const visible = new Set((await listRoomIds(on, { ids })).map(({ id }) => id))
  return rows.map((row) => {
    const { roomId, ...others } = actionOfJob(row)
    return roomId === undefined || visible.has(roomId) ? row : { ...row, action: JSON.stringify(others) }
  })
}

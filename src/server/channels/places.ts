// Checks the regions and locations that a channel is limited to, and takes deleted ones from it. [contract 10.channel]
import { invalid } from '../core/failure.ts'
import type { Tx } from '../db/handles.ts'
import type { ForgetPlace } from '../fleet/deleted-place.ts'
import { listLocations } from '../fleet/locations/store.ts'
import { listRegions } from '../fleet/regions/store.ts'
import { type AuditRef, auditRef } from '../journal/audit/change-result.ts'
import { type ChannelSettings, channelSettingsOf } from './settings.ts'
import { listChannelSettings, updateChannelSettings } from './store.ts'
import { storeChannelFilters } from './stored-filters.ts'

/** Refuses ids that do not exist, except those that the channel already has: their places may have been deleted since. */
export async function checkPlaces(
  tx: Tx,
  settings: ChannelSettings,
  before: ChannelSettings,
): Promise<ChannelSettings> {
  const check = async (
    field: 'regionIds' | 'locationIds',
    noun: string,
    list: () => Promise<readonly { id: number }[]>,
  ) => {
    const ids = settings[field]
    if (ids.every((id) => before[field].includes(id))) return []
    const known = new Set([...(await list()).map(({ id }) => id), ...before[field]])
    return ids.flatMap((id, i) =>
      known.has(id) ? [] : [{ field: `${field}[${i}]`, error: `names ${noun} ${id}, which does not exist` }],
    )
  }
  const wrong = [
    ...(await check('regionIds', 'region', () => listRegions(tx))),
    ...(await check('locationIds', 'location', () => listLocations(tx))),
  ]
  if (wrong.length > 0) throw invalid(wrong)
  return { ...settings, regionIds: sorted(settings.regionIds), locationIds: sorted(settings.locationIds) }
}

const sorted = (ids: readonly number[]): number[] => [...new Set(ids)].sort((a, b) => a - b)

/** Removes a deleted region or location from the channels that are limited to it. The last one stays: without any the channel would get everything. Ids are never used again. */
export const removePlaceFromChannels: ForgetPlace = async (tx, place) => {
  // The filters are in memory already, and most deletions concern no channel.
  if (!tx.wantedMessages.includes(`${place.id}`)) return []
  const field = place.type === 'region' ? 'regionIds' : 'locationIds'
  const affected: AuditRef[] = []
  for (const { id, name, settings: text } of await listChannelSettings(tx)) {
    const settings = channelSettingsOf({ settings: text })
    const rest = settings[field].filter((known) => known !== place.id)
    if (rest.length === 0 || rest.length === settings[field].length) continue
    await updateChannelSettings(tx, { id, settings: JSON.stringify({ ...settings, [field]: rest }) })
    affected.push(auditRef('channel', { id, name }))
  }
  if (affected.length > 0) await storeChannelFilters(tx)
  return affected
}

// Copies the filters of all channels into the head of the audit log, which every audited change reads anyway. [contract 10.channel]
import type { Tx } from '../db/handles.ts'
import { updateWantedMessages } from '../journal/audit/store.ts'
import { channelFilterOf } from '../journal/outbox/filter.ts'
import { channelSettingsOf } from './settings.ts'
import { listChannelSettings } from './store.ts'

/** Must be called after every change of channels, in its transaction. */
export async function storeChannelFilters(tx: Tx): Promise<void> {
  const filters = (await listChannelSettings(tx))
    .map((row) => channelFilterOf(row.id, channelSettingsOf(row)))
    .filter(({ events }) => events.length > 0)
  const wanted = JSON.stringify(filters)
  await updateWantedMessages(tx, { wanted })
  tx.wantedMessages = wanted
}

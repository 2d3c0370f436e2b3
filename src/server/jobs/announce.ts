// Tells the event stream, the channels and the audit log that a job changed. [contract 12.rights]

import type { ChannelEvent } from '../../contract/channels/messages.ts'
import type { TelemetryTx, Tx } from '../db/handles.ts'
import type { EventDraft } from '../events/draft.ts'
import type { LocatedRow } from '../events/find-places.ts'
import { auditRef } from '../journal/audit/change-result.ts'
import { areMessagesWanted, queueMessages } from '../journal/outbox/outbox.ts'
import type { JobRow } from './rows.ts'
import type { JobPlace } from './units/job-places.ts'
import { countUnits } from './units/unit-counts.ts'
import { jobView } from './view.ts'

export type JobMessage = Extract<ChannelEvent, `job.${string}`>

export const jobRef = (row: Pick<JobRow, 'id' | 'name'>) => auditRef('job', row)

/** The places of a job, for its audit entry. */
export const locatedRows = (places: readonly JobPlace[]): LocatedRow[] =>
  places.map(({ location, region }) => ({ endpoint: null, room: null, location, region }))

/** One event for each region, so that every reader who sees a part of the job gets one. */
export const jobEvents = (
  row: Pick<JobRow, 'id' | 'state' | 'updated_at'>,
  places: readonly JobPlace[],
): EventDraft[] =>
  [...Map.groupBy(places, ({ region }) => region)].map(([region, inRegion]) => ({
    type: 'job',
    at: row.updated_at,
    job: { id: String(row.id), state: row.state },
    places: {
      rooms: [],
      locations: inRegion.flatMap(({ location }) => (location === null ? [] : [location])).sort((a, b) => a - b),
      regions: region === null ? [] : [region],
    },
  }))

export async function queueJobMessage(
  tx: Tx | TelemetryTx,
  type: JobMessage,
  row: JobRow,
  places: readonly JobPlace[],
): Promise<void> {
  if (!(await areMessagesWanted(tx, [type]))) return
  const counts = await countUnits(tx, [row])
  // The config of a job may be long, and a message says only what kind of change it is.
  const { action, ...view } = jobView(row, counts, row.updated_at)
  await queueMessages(tx, [
    {
      type,
      orderKey: `job ${row.id}`,
      at: row.updated_at,
      regionIds: [...new Set(places.map(({ region }) => region))],
      locationIds: [...new Set(places.map(({ location }) => location))],
      data: { job: { ...view, action: { type: action.type } } },
    },
  ])
}

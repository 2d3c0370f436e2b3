// Makes the events of the stream that say that an incident has changed. [contract 10.states]
import type { EventDraft } from '../events/draft.ts'
import type { IncidentRow, SubjectRow } from './store.ts'

/** One event for each region, so that every reader who sees the incident gets one, without rooms that it does not see. */
export const incidentEvents = (row: IncidentRow, subjects: readonly SubjectRow[]): EventDraft[] =>
  [...Map.groupBy(subjects, ({ region_id }) => region_id)].map(([region, inRegion]) => ({
    type: 'incident',
    at: row.updated_at,
    incident: { id: String(row.id), state: row.state },
    places: {
      rooms: distinctIds(inRegion.map(({ room_id }) => room_id)),
      locations: distinctIds(inRegion.map(({ location_id }) => location_id)),
      regions: region === null ? [] : [region],
    },
  }))

export const distinctIds = (ids: readonly (number | null)[]): number[] =>
  [...new Set(ids)].filter((id) => id !== null).sort((a, b) => a - b)

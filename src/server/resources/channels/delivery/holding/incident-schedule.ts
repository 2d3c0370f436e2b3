// Reads what decides whether and when an incident is sent: its state, its severity, silences, and the hours at its place.

import { minuteMs } from '../../../../../contract/durations.ts'
import { nextTimeWithin } from '../../../../core/time/weekly-hours.ts'
import type { OrgDatabase } from '../../../../db/org-database.ts'
import { readSilencedIncidents } from '../../../incidents/silenced.ts'
import { openingDelayMs } from '../../outbox.ts'
import type { ChannelSettings } from '../../settings.ts'
import { type IncidentStateRow, listIncidentStates, listIncidentZones } from './opening-store.ts'

/** Messages that a silence holds are looked at this often, because a silence may be ended by hand. */
const silencePauseMs = minuteMs

interface ScheduledMessage {
  readonly incident_id: number | null
  readonly created_at: number
}

export class IncidentSchedule {
  readonly #incidents: ReadonlyMap<number, IncidentStateRow>
  readonly #zones: ReadonlyMap<number, string>
  readonly #hours: ChannelSettings['hours']
  readonly #orgZone: string
  readonly #isSilenced: (incident: number, at: number) => boolean

  private constructor(
    incidents: readonly IncidentStateRow[],
    zones: ReadonlyMap<number, string>,
    hours: ChannelSettings['hours'],
    orgZone: string,
    isSilenced: (incident: number, at: number) => boolean = () => false,
  ) {
    this.#incidents = new Map(incidents.map((row) => [row.id, row]))
    this.#zones = zones
    this.#hours = hours
    this.#orgZone = orgZone
    this.#isSilenced = isSilenced
  }

  /** The zones are read only for a channel with hours. */
  static async read(
    db: OrgDatabase,
    messages: readonly ScheduledMessage[],
    { hours }: Pick<ChannelSettings, 'hours'>,
    orgZone: string,
    now: number,
  ): Promise<IncidentSchedule> {
    const ids = [...new Set(messages.flatMap(({ incident_id }) => incident_id ?? []))]
    if (ids.length === 0) return new IncidentSchedule([], new Map(), hours, orgZone)
    const incidents = await listIncidentStates(db, { ids })
    const zones = hours ? zonesOf(await listIncidentZones(db, { ids }), orgZone) : new Map<number, string>()
    const from = messages.reduce((earliest, { created_at }) => Math.min(earliest, created_at), now)
    return new IncidentSchedule(incidents, zones, hours, orgZone, await readSilencedIncidents(db, incidents, from))
  }

  find(id: number | null): IncidentStateRow | undefined {
    return id === null ? undefined : this.#incidents.get(id)
  }

  /** Whether the incident of an opening ended before it could be sent. A merge ends it too: the larger incident is sent. */
  hasEndedEarly({ incident_id, created_at }: ScheduledMessage): boolean {
    const incident = this.find(incident_id)
    if (incident?.state !== 'RESOLVED' && incident?.state !== 'MERGED') return false
    return (incident.resolved_at ?? incident.updated_at) < created_at + openingDelayMs
  }

  /** Whether the opening was silenced when it became due, and the incident ended while it was silenced. [contract 10.silence] */
  hasEndedInSilence({ incident_id, created_at }: ScheduledMessage): boolean {
    const { id, state, resolved_at, updated_at } = this.find(incident_id) ?? {}
    if (id === undefined || (state !== 'RESOLVED' && state !== 'MERGED')) return false
    const endedAt = resolved_at ?? updated_at ?? 0
    return this.#isSilenced(id, created_at + openingDelayMs) && this.#isSilenced(id, endedAt)
  }

  /** Whether the incident ended in its first minute. A channel that wants no openings gets nothing about it either. */
  wasShort({ incident_id }: Pick<ScheduledMessage, 'incident_id'>): boolean {
    const incident = this.find(incident_id)
    return incident !== undefined && this.hasEndedEarly({ incident_id, created_at: incident.opened_at })
  }

  /** The time from which the message may be sent: `now` while its hours are open, no silence covers it and the first minute of the incident is over. */
  sendableAt({ incident_id }: Pick<ScheduledMessage, 'incident_id'>, now: number): number {
    const incident = this.find(incident_id)
    const from = Math.max(now, incident ? incident.opened_at + openingDelayMs : now)
    if (incident && this.#isSilenced(incident.id, now)) return Math.max(from, now + silencePauseMs)
    if (!this.#hours || incident?.severity === 'CRITICAL') return from
    const zone = incident_id === null ? undefined : this.#zones.get(incident_id)
    return nextTimeWithin(this.#hours, zone ?? this.#orgZone, from)
  }
}

/** An incident in several zones has the zone of the organisation. */
function zonesOf(
  rows: readonly { readonly incident_id: number; readonly timezone: string | null }[],
  orgZone: string,
): Map<number, string> {
  const zones = new Map<number, string>()
  for (const { incident_id, timezone } of rows) {
    const zone = timezone ?? orgZone
    const known = zones.get(incident_id)
    zones.set(incident_id, known === undefined || known === zone ? zone : orgZone)
  }
  return zones
}

// Reads what decides about the waiting messages of a channel: the messages, their incidents, and what the channel was told. [contract 10.delivery]

import type { ChannelKind } from '../../../../contract/channels/channels.ts'
import { minuteMs } from '../../../../contract/durations.ts'
import { nextTimeWithin } from '../../../core/time/weekly-hours.ts'
import type { OrgDatabase } from '../../../db/org-database.ts'
import { readSilencedIncidents } from '../../../incidents/silenced.ts'
import { incidentOrderKey } from '../../../journal/outbox/outbox.ts'
import type { ChannelSettings } from '../../settings.ts'
import { type DueRow, findNewestMessage, listWaitingOf } from '../store.ts'
import { listAnnounced, listToldKeys } from './announced-store.ts'
import { type IncidentStateRow, listIncidentStates, listIncidentZones, listOpenings } from './opening-store.ts'
import { stormWindowMs } from './storms.ts'
import type { DeliveryFacts, WaitingDigest } from './waiting.ts'

/** Messages that a silence holds are looked at this often, because a silence may be ended by hand. */
const silencePauseMs = minuteMs
const maxOpeningsRead = 5000

export interface DeliveryChannel {
  readonly channel: number
  readonly kind: ChannelKind
  readonly settings: ChannelSettings
  readonly orgZone: string
  readonly now: number
}

export const digestOrderKey = (channel: number): string => `digest ${channel}`

/** Reads the incidents last, because `decide` relies on them being newer than the messages. */
export async function readDeliveryFacts(
  db: OrgDatabase,
  { channel, kind, settings, orgZone, now }: DeliveryChannel,
  due: readonly DueRow[],
): Promise<DeliveryFacts<DueRow>> {
  const isDue = new Set(due.map(({ message }) => message))
  const orderKeys = [...new Set(due.map(({ order_key }) => order_key))]
  const before = await listWaitingOf(db, { channel, orderKeys, before: Math.max(...isDue) })
  // PagerDuty groups alerts by itself, and needs each of them to resolve it.
  const takesDigests = kind !== 'pagerduty'
  const untold = due.filter(({ incident_id, sequence }) => incident_id !== null && sequence === null)
  const mayGather = takesDigests && untold.length > 0
  const since = Math.min(...untold.map(({ created_at }) => created_at)) - stormWindowMs
  const openings = mayGather ? await listOpenings(db, { channel, since, limit: maxOpeningsRead }) : []
  const digest = mayGather ? await findNewestMessage(db, { channel, orderKey: digestOrderKey(channel) }) : undefined
  const messages = [...due, ...before, ...openings]
  const ids = [...new Set(messages.flatMap(({ incident_id }) => incident_id ?? []))]
  const announced = await readAnnounced(db, channel, ids)
  const incidents = ids.length > 0 ? await listIncidentStates(db, { ids }) : []
  return {
    now,
    events: settings.events,
    takesDigests,
    due,
    earlier: before.filter(({ message }) => !isDue.has(message)),
    openings,
    incidents: new Map(incidents.map((row) => [row.id, row])),
    announced,
    lastDigestAt: digest?.created_at,
    freeAt: await readFreeTimes(db, incidents, settings, orgZone, now),
  }
}

/** Nodes of the previous version do not write announced_incidents, so attempted messages count too. */
async function readAnnounced(
  db: OrgDatabase,
  channel: number,
  ids: readonly number[],
): Promise<Map<number, WaitingDigest | undefined>> {
  const announced = new Map<number, WaitingDigest | undefined>()
  if (ids.length === 0) return announced
  for (const { incident_id, message, digest_at } of await listAnnounced(db, { channel, ids })) {
    announced.set(incident_id, digest_at === null ? undefined : { message, nextAt: digest_at })
  }
  const orderKeys = ids.filter((id) => !announced.has(id)).map(incidentOrderKey)
  if (orderKeys.length === 0) return announced
  for (const { incident_id } of await listToldKeys(db, { channel, orderKeys })) {
    if (incident_id !== null) announced.set(incident_id, undefined)
  }
  return announced
}

/** The zones are read only for a channel with hours. */
async function readFreeTimes(
  db: OrgDatabase,
  rows: readonly IncidentStateRow[],
  { hours }: Pick<ChannelSettings, 'hours'>,
  orgZone: string,
  now: number,
): Promise<DeliveryFacts['freeAt']> {
  const incidents = new Map(rows.map((row) => [row.id, row]))
  const isSilenced = await readSilencedIncidents(db, rows, now)
  const ids = [...incidents.keys()]
  const zones = hours && ids.length > 0 ? zonesOf(await listIncidentZones(db, { ids }), orgZone) : new Map()
  return (id, from) => {
    const incident = id === null ? undefined : incidents.get(id)
    if (incident && isSilenced(incident.id, now)) return Math.max(from, now + silencePauseMs)
    if (!hours || incident?.severity === 'CRITICAL') return from
    return nextTimeWithin(hours, zones.get(id) ?? orgZone, from)
  }
}

/** An incident in several zones has the zone of the organisation. */
function zonesOf(
  rows: readonly { readonly incident_id: number; readonly timezone: string | null }[],
  orgZone: string,
): Map<number | null, string> {
  const zones = new Map<number | null, string>()
  for (const { incident_id, timezone } of rows) {
    const zone = timezone ?? orgZone
    const known = zones.get(incident_id)
    zones.set(incident_id, known === undefined || known === zone ? zone : orgZone)
  }
  return zones
}

// A message on its way to one channel, and the JSON that webhooks get. [contract 10.channel]
import type { MessageType, NamedPlace } from '../../../../contract/channels/messages.ts'
import type { Reading } from '../../../../contract/incidents/readings.ts'
import type { MonthMessage } from '../../../../contract/reports/month-message.ts'
import type { Org } from '../../../auth/token-holder.ts'
import { isoTime } from '../../../core/clock.ts'
import type { DueRow } from '../store.ts'

export interface OutgoingMessage {
  /** Equal in all attempts and replays. */
  readonly id: string
  readonly type: MessageType
  readonly sequence: number
  readonly createdAt: number
  /** When this attempt began: a time of another day is shown with its date. */
  readonly attemptedAt: number
  readonly orgId: string
  /** The zone in which people read times: of the place of the message, or of the organisation if it has none or several. */
  readonly timezone: string
  /** The page of the console that shows it. */
  readonly url: string
  /** The page of the room, if the message is about one. */
  readonly roomUrl?: string
  /** The incident, the endpoint or whatever the message is about, as the API shows it. */
  readonly content: MessageContent
}

/** At most one of these is set, `places` with an incident, and `recipient` in channels to people. Every field of them may be missing: old messages stay as they were written. */
export interface MessageContent {
  readonly incident?: IncidentContent
  readonly places?: readonly NamedPlace[]
  readonly digest?: DigestContent
  readonly endpoint?: {
    readonly id?: string
    readonly name?: string
    readonly serial?: string
    readonly model?: string
  }
  readonly operation?: {
    readonly endpointId?: string
    readonly endpointName?: string
    readonly type?: string
    readonly state?: string
  }
  readonly config?: { readonly endpointId?: string; readonly endpointName?: string; readonly state?: string }
  readonly job?: {
    readonly id?: string
    readonly name?: string
    readonly state?: string
    readonly reason?: string
    readonly startedBy?: { readonly name?: string }
  }
  readonly entry?: { readonly type?: string; readonly actor?: { readonly name?: string } }
  readonly report?: MonthMessage
  /** The person who gets a message of a channel to people; a test has this alone. */
  readonly recipient?: { readonly address?: string }
  readonly assignedBy?: { readonly name?: string }
}

export interface IncidentContent {
  readonly id?: string
  readonly rule?: string
  readonly severity?: string
  readonly state?: string
  readonly title?: string
  readonly hint?: string
  readonly cause?: { readonly level?: string; readonly id?: string; readonly name?: string }
  readonly readings?: readonly Reading[]
  readonly since?: string
  readonly roomIds?: readonly number[]
  readonly flapping?: boolean
  readonly acknowledgedBy?: { readonly name?: string }
}

export interface DigestContent {
  readonly count: number
  /** The times at which the first and the last incident of the message opened. */
  readonly from: string
  readonly to: string
  readonly bySeverity: Readonly<Record<string, number>>
  readonly byRule: Readonly<Record<string, number>>
  /** The first 1000. */
  readonly incidentIds: readonly string[]
}

interface MessageOrg extends Org {
  readonly timezone: string
}

export function outgoingMessage(
  row: DueRow,
  sequence: number,
  { org, publicUrl, now }: { readonly org: MessageOrg; readonly publicUrl: string; readonly now: number },
): OutgoingMessage {
  const content = JSON.parse(row.data) as MessageContent
  const { places = [] } = content
  const zones = new Set(places.flatMap(({ timezone }) => timezone ?? []))
  const [zone] = zones
  const rooms = new Set([...places.flatMap(({ roomId }) => roomId ?? []), ...(content.incident?.roomIds ?? [])])
  const [room] = rooms
  return {
    id: row.id,
    type: row.type,
    sequence,
    createdAt: row.created_at,
    attemptedAt: now,
    orgId: org.id,
    timezone: zone !== undefined && zones.size === 1 ? zone : org.timezone,
    ...(room !== undefined && rooms.size === 1 && { roomUrl: `${publicUrl}/rooms/${room}` }),
    url: publicUrl + consolePath(content),
    content,
  }
}

function consolePath({ incident, digest, endpoint, operation, config, job, entry, report }: MessageContent): string {
  if (incident?.id !== undefined) return `/incidents/${encodeURIComponent(incident.id)}`
  if (digest) return '/incidents'
  const endpointId = endpoint?.id ?? operation?.endpointId ?? config?.endpointId
  if (endpointId !== undefined) return `/devices/${encodeURIComponent(endpointId)}`
  if (job?.id !== undefined) return `/jobs/${encodeURIComponent(job.id)}`
  if (report) return `/insights?${new URLSearchParams({ month: report.month, ...textsOf(report.pageFilter) })}`
  return entry ? '/audit' : '/'
}

const textsOf = (values: Readonly<Record<string, number>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))

/** The body of a webhook, in the form of Standard Webhooks 1.0. */
export const webhookBody = ({ type, createdAt, orgId, sequence, url, roomUrl, content }: OutgoingMessage): string =>
  JSON.stringify({
    type,
    timestamp: isoTime(createdAt),
    data: { org: orgId, sequence, url, ...(roomUrl !== undefined && { roomUrl }), ...content },
  })

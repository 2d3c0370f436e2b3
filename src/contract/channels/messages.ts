// The types of messages that channels receive, and how long they wait at most. [contract 10.channel]
import { dayMs, minuteMs } from '../durations.ts'
import { placedRoomName } from '../fleet/room-name.ts'

/** The types that a channel can choose from. */
export const channelEvents = [
  'incident.opened',
  'incident.changed',
  'incident.acknowledged',
  'incident.resolved',
  'incident.reopened',
  'incident.assigned',
  'endpoint.connected',
  'endpoint.disconnected',
  'endpoint.enrolled',
  'endpoint.removed',
  'operation.finished',
  'config.delivered',
  'config.failed',
  'job.started',
  'job.paused',
  'job.stopped',
  'job.resumed',
  'job.ended',
  'audit.entry',
  'report.month',
] as const
export type ChannelEvent = (typeof channelEvents)[number]

/** The types that a message can have. A digest stands for openings; heartbeats and tests are not chosen as events. */
export const messageTypes = [...channelEvents, 'incident.digest', 'heartbeat', 'test'] as const
export type MessageType = (typeof messageTypes)[number]

/** A new channel gets these unless it says otherwise. */
export const defaultChannelEvents = [
  'incident.opened',
  'incident.acknowledged',
  'incident.resolved',
  'incident.reopened',
] as const satisfies readonly ChannelEvent[]

/** A new channel of the kind `people` gets these: messages to the person that they concern. */
export const peopleChannelEvents = ['incident.assigned'] as const satisfies readonly ChannelEvent[]

/** The largest body of a webhook. */
export const maxMessageBytes = 20 * 1024

/** No message waits longer for its next attempt: a receiver can ask for a day, and the hours of a channel start again within a week. */
export const maxMessageWaitMs = 10 * dayMs
/** Without hours nothing holds a message longer before its first attempt. A digest holds openings for ten minutes. */
export const maxMessageHoldMs = 15 * minuteMs
/** A place that a message names: a room, or the location or region of something that is in no room. */
export interface NamedPlace {
  readonly roomId?: number
  readonly roomName?: string
  readonly locationId?: number
  readonly locationName?: string
  readonly regionId?: number
  readonly regionName?: string
  /** The zone of the location, or of the organisation if the location has none. */
  readonly timezone?: string
  /** When the problem began, in that zone. */
  readonly localSince?: string
}

/** "Coral (Boston Seaport)", as far as the names are known. */
export function placeText({ roomName, locationName, regionName }: NamedPlace): string | undefined {
  if (roomName === undefined) return locationName ?? regionName
  return placedRoomName(roomName, locationName)
}

/** The fields of a message to a person, in addition to the incident. The message goes by mail only, so the address is in no answer. */
export interface AssignmentContent {
  readonly recipient: { readonly address: string }
  readonly assignedBy: { readonly name: string }
}

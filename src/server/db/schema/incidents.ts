// The tables of incidents, silences, channels and messages, as Kysely types.

import type { Generated } from 'kysely'
import type { ChannelKind, DeliveryState } from '../../../contract/channels/channels.ts'
import type { MessageType } from '../../../contract/channels/messages.ts'
import type { ConnectionEnd } from '../../../contract/fleet/connections.ts'
import type { CauseLevel, TimelineKind } from '../../../contract/incidents/incidents.ts'
import type { RuleId, Severity, SubjectType } from '../../../contract/incidents/rule-table.ts'
import type { IncidentState } from '../../../contract/incidents/states.ts'

export interface IncidentSchema {
  /** Connections that have ended. The row of an endpoint has the present one. */
  connection_spans: {
    org: number
    endpoint: number
    since: number
    until: number
    why: ConnectionEnd
    /** Set if it ended because a server stopped: until then, or the next connection, the device counted as reconnecting. */
    unknown_until: number | null
    /** The state of the endpoint after the end; null in spans of earlier versions. */
    followed_by: Generated<'ASLEEP' | 'UNKNOWN' | 'OFFLINE' | null>
    /** 1 if the device counts as asleep when its state is known, 0 if as offline. */
    rested: Generated<number>
    /** When it had slept for too long; it is offline from then on. */
    overslept_at: Generated<number | null>
    /** Its gateway at the end. */
    via: Generated<string | null>
    /** The source of the device at the end. */
    source_id: Generated<string | null>
  }
  credential_attempts: {
    org: number
    endpoint_id: string
    /** `taken over` means that another connection of the device replaced its connection. */
    kind: 'refused' | 'taken over'
    minute: number
    address: string
    count: number
    /** When the last of them was; 0 if an earlier version counted them. */
    last_at: Generated<number>
  }
  /** The settings are JSON: what the organisation has changed. */
  incident_rules: { org: number; rule: RuleId; version: number; settings: string }
  silences: {
    org: number
    id: number
    version: number
    place_type: 'all' | 'region' | 'location' | 'room' | 'endpoint'
    /** Empty for the whole organisation. */
    place_id: string
    /** A JSON list; null means all rules but those about security. */
    rules: string | null
    reason: string
    since: number
    until: number | null
    weekly: string | null
    author_type: string
    author_id: string
    author_name: string
  }
  incidents: {
    org: number
    id: number
    version: number
    rule: RuleId
    severity: Severity
    state: IncidentState
    level: CauseLevel
    cause_id: string
    cause_name: string
    /** JSON that title and hint are made of, such as the keys of a refused config. */
    detail: Generated<string>
    since: number
    opened_at: number
    updated_at: number
    resolved_at: number | null
    /** When the cause ended; null while it lasts, also after a person resolved the incident. */
    cause_ended_at: number | null
    occurrences: Generated<number>
    /** The times of the reopenings in the 7 days before the last one, at most 50 of them, as JSON. */
    reopenings: Generated<string>
    flapping: Generated<number>
    /** The actor as JSON. */
    acknowledged_by: string | null
    /** When a person first acknowledged it, even if that was withdrawn or it reopened. */
    acknowledged_at: Generated<number | null>
    assignee_id: number | null
    snoozed_until: number | null
    snoozed_until_cleared: Generated<number>
    merged_into: number | null
    split_from: number | null
  }
  findings: {
    org: number
    rule: RuleId
    subject_type: SubjectType
    /** The id of the subject; for a finding about a part of it, such as one of its faults, also a space and the part as JSON. */
    subject_id: string
    /** When the condition began to hold. */
    since: number
    /** When it had held long enough; null before. */
    matured_at: number | null
    /** When the opposite began to hold; null while the condition holds. */
    clear_since: number | null
    incident_id: number | null
    detail: Generated<string>
  }
  known_peripherals: {
    org: number
    endpoint_id: string
    /** A JSON list of those that were connected for long enough, each with the time at which it was last seen connected. */
    peripherals: string
  }
  incident_subjects: {
    org: number
    incident_id: number
    subject_type: SubjectType
    subject_id: string
    name: string
    /** The place of the subject when it joined; its region decides who sees it. */
    room_id: number | null
    room_name: string | null
    location_id: number | null
    region_id: number | null
    since: number
    ended_at: number | null
  }
  incident_timeline: {
    org: number
    incident_id: number
    number: number
    at: number
    kind: TimelineKind
    actor_type: string | null
    actor_id: string | null
    actor_name: string | null
    text: string | null
    /** The user that the entry is about, such as an assignee. */
    user_id: number | null
  }
  incident_progress: {
    org: number
    /** Restarts of the service until this time were judged. */
    judged_until: number
    /** When a run last read the conditions whose beginning no table has. */
    looked_at: number | null
  }
  channels: {
    org: number
    id: number
    version: number
    name: string
    kind: ChannelKind
    enabled: number
    disabled_reason: string | null
    /** JSON without anything secret. */
    settings: string
    /** Sealed JSON: address, routing key, the secrets that sign. */
    secrets: Buffer
    /** The sequence of the last message that was attempted. */
    last_sequence: Generated<number>
    created_at: number
    delivered_at: number | null
    failing_since: number | null
    last_error: string | null
    /** When the next heartbeat is due. */
    heartbeat_at: number | null
  }
  messages: {
    number: Generated<number>
    org: number
    /** The `webhook-id`. */
    id: string
    type: MessageType
    /** `incident 12` or `endpoint <id>`: messages with the same key are delivered in order. */
    order_key: string
    incident_id: number | null
    /** The `data` of the message as JSON, without `org`, `sequence` and `url`. */
    data: string
    created_at: number
  }
  /** A view of SQLite. A row that is inserted into it becomes a message and a delivery for each of its channels. */
  new_messages: {
    org: number
    id: string
    type: MessageType
    order_key: string
    incident_id: number | null
    data: string
    created_at: number
    next_at: number
    /** The ids of the channels, as a JSON list. */
    channels: string
  }
  deliveries: {
    org: number
    channel_id: number
    message: number
    /** Given at the first attempt, so that sequences have no gaps. */
    sequence: number | null
    state: DeliveryState
    attempts: Generated<number>
    next_at: number | null
    status: number | null
    error: string | null
    delivered_at: number | null
    /** When a person asked for it again last. */
    replayed_at: number | null
    /** The type with which it was first attempted, if that is not the type of the message. */
    type: MessageType | null
    /** The content of the first attempt; null while the message is sent as it was written. */
    data: string | null
  }
  /** The incidents that a channel was told about, with an opening or a digest. */
  announced_incidents: {
    org: number
    channel_id: number
    incident_id: number
    /** The number of the message that announced it; 0 if that is not known. The message can be deleted before this row. */
    message: number
    /** How many subjects were affected when it was announced. */
    size: number
    /** 1 if the channel was told that it has grown to ten times its size. */
    has_grown: number
  }
}

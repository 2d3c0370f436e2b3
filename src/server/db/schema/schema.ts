// The tables as Kysely types, with the same rows on SQLite and PostgreSQL.
// Times are milliseconds, flags are 0 or 1 and JSON is text, because both engines read these alike.

import type { Generated } from 'kysely'
import type { OperationWait } from '../../../contract/fleet/commands.ts'
import type { ItemDriverId, SourceType } from '../../../contract/fleet/drivers.ts'
import type { GatewayDeviceState } from '../../../contract/fleet/gateways.ts'
import type { LinkedKind, SourceState } from '../../../contract/fleet/sources.ts'
import type { IncidentSchema } from './incidents.ts'
import type { JobSchema } from './jobs.ts'
import type { PeopleSchema } from './people.ts'

/** The sensors' columns in the tables of samples. */
export const sensorColumns = ['co2', 'humidity', 'illumination', 'people', 'temp', 'voc', 'voc_index'] as const
export type SensorColumn = (typeof sensorColumns)[number]

/** The sensors whose values reports need. */
export const roomDaySensors = [
  'people',
  'co2',
  'humidity',
  'temp',
  'voc',
  'voc_index',
] as const satisfies SensorColumn[]
export type RoomDaySensor = (typeof roomDaySensors)[number]

/** Temperature and humidity are in tenths; null stands for a value that the device did not send. */
type SampleValues = {
  /** Unix seconds, as devices send it. */
  timestamp: number
  shutter_closed: number | null
} & { [S in SensorColumn]: number | null }

/** The samples of one slot and of the room that the endpoint was in (0: no room), in the units of samples. */
export type Rollup = { org: number; endpoint: number; slot: number; room: number } & {
  [S in SensorColumn as `${S}_count`]: number
} & { [S in SensorColumn as `${S}_${'min' | 'max' | 'sum'}`]: number | null }

/** The device that a gateway connects to. */
interface GatewayTargetColumns {
  /** In a test of a source: its type. `host` is then its address, and `options` has its settings. */
  driver: ItemDriverId
  host: string
  port: number
  username: string | null
  /** Sealed JSON with the secret fields; null without any. */
  secrets: Buffer | null
  /** JSON with the options that differ from the defaults. */
  options: string
  fingerprint: string | null
}

export interface DatabaseSchema extends PeopleSchema, IncidentSchema, JobSchema {
  settings: { name: string; value: string }
  /** A row for each start of a server. */
  nodes: {
    id: Generated<number>
    name: string
    version: string
    /** Names the process. The database sessions of the process carry this name. */
    process: string
    state: 'up' | 'left' | 'dead'
    /** Rises every second while the node is up. */
    beats: number
    /** Rises with every unaudited commit of the node. */
    changes: number
    started_at: number
    ended_at: number | null
    /** The last time at which it is known to have run: its start, then the end of the grace period. Null for a node of an earlier version. */
    seen_at: Generated<number | null>
    /** When its TLS certificate expires; null without one. */
    certificate_expires_at: Generated<number | null>
  }
  /** The node that runs each scheduled task, or each part of one that is shared out. A whole task has the part 0. */
  tasks: { name: string; part: number; node_id: number }
  orgs: {
    key: Generated<number>
    id: string
    version: Generated<number>
    name: string
    created_at: number
    timezone: Generated<string>
    /** As the option --air-limits has them, for all sensors. */
    air_limits: Generated<string>
    /** JSON; null without working hours. */
    working_hours: Generated<string | null>
    /** In thousandths of a percent. */
    availability_target: Generated<number>
    ignore_under_minutes: Generated<number>
    /** Since when the past of places, stays and silences is stored; 0: since the organisation was made. */
    past_known_from: Generated<number>
  }
  counters: { org: number; noun: string; last: number }
  audit_heads: {
    org: number
    count: number
    mac: Buffer
    timestamp: number
    /** Which messages each channel wants, as a JSON list of its filters (channels/filter.ts). */
    wanted_messages: Generated<string>
  }
  audit_log: {
    org: number
    seq: number
    timestamp: number
    category: string
    type: string
    actor_type: string
    actor_id: string
    actor_name: string
    target_type: string
    target_id: string
    target_name: string
    details: string
    request_id: string | null
    ip: string | null
    mac: Buffer
    /** The `ChangeRegions` of the entry as JSON; null for entries of version 0.1. */
    regions: string | null
  }
  regions: {
    org: number
    id: number
    version: number
    name: string
    /** The key of the region in a system of the organisation. */
    external_id: string | null
  }
  locations: {
    org: number
    id: number
    version: number
    name: string
    region_id: number | null
    /** Null means that of the organisation. */
    timezone: string | null
    /** WeeklyHours as JSON; null means always. */
    change_window: string | null
    address: string | null
    contact: string | null
    external_id: string | null
  }
  profiles: {
    org: number
    id: number
    version: number
    name: string
    description: string | null
    config_id: number
    config: string
    secrets: string
    external_id: string | null
  }
  rooms: {
    org: number
    id: number
    version: number
    name: string
    location_id: number | null
    profile_id: number | null
    dec_sealed: Buffer
    dec_used_at: number | null
    dec_timeout: number
    /** How many people it is made for. */
    capacity: number | null
    /** A JSON list. */
    tags: Generated<string>
    floor: string | null
    contact: string | null
    external_id: string | null
    /** Custom fields by name, as JSON; null without any. */
    fields: string | null
  }
  dec_directory: { mac: Buffer; org: number; room_id: number }
  room_notes: {
    org: number
    id: number
    room_id: number
    version: number
    note: string
    author: string
    created_at: number
  }
  endpoints: {
    org: number
    id: string
    version: number
    serial: string
    pairing_serial: string | null
    model: string
    room_id: number | null
    profile_id: number | null
    /** The node that the device is connected to. It is connected only while the row of that node says `up`. */
    node_id: number | null
    /** The number of its current or last connection. */
    connection: Generated<number>
    /** The value of `node_id` before the device connected. */
    previous_node_id: number | null
    connection_time: number | null
    /** Since when it is online or reconnecting, ignoring server restarts; null: use `connection_time`. */
    online_since: number | null
    /** Set if a server disconnected the device, which counts as reconnecting until then. */
    unknown_until: number | null
    /** The id of the gateway through which the device is seen. */
    via: string | null
    /** The source of which its gateway knows the device; set and cleared with `via`. */
    source_id: string | null
    source_type: SourceType | null
    /** 1 if the source no longer lists the device. */
    missing_at_source: Generated<number>
    /** Whether the device can sleep, and whether its last status lets it: `restOf`. */
    rest: 'AWAKE' | 'RESTING' | null
    /** 1 if the device is away, and its connection ended together with the one of its gateway. */
    left_with_gateway: Generated<number>
    /** When a device that was asleep had slept for too long; it is offline since. */
    overslept_at: number | null
    enrolment_time: number
    status: string
    /** The name that is shown: `given_name`, or else the name that the device reports. */
    name: string | null
    /** The name that a person gave. */
    given_name: string | null
    /** For the next person who works with the device. */
    note: string | null
    /** The `sleeps` that a person gave, 1 or 0. It wins over the reported one. */
    given_sleeps: number | null
    asset_tag: string | null
    /** A day, as 2026-03-02. */
    installed_on: string | null
    warranty_until: string | null
    external_id: string | null
    /** Custom fields by name, as JSON; null without any. */
    fields: string | null
    /** The part of its status that changes often: a JSON object with `readings`, and `signals` by network. */
    readings: Generated<string>
    /** The sensors that its status lists, as a set (devices/device-sensors.ts); null without a list. */
    sensors_named: number | null
    /** The sensors of which it has ever sent a number, as a set. Kept for models that are not in the table. */
    sensors_measured: Generated<number>
    /** 1 if `people` of its samples is presence. */
    presence_only: Generated<number>
    /** When it last reported that a call had ended. */
    call_ended_at: number | null
    /** The number of the connection over which its last status came. */
    status_connection: number | null
    /** Stands for the endpoint in the tables of samples, where a UUID would take most of a row. */
    number: number
  }
  /** The rooms that an endpoint was in, with begin and end in Unix seconds; the current room has no end. */
  endpoint_rooms: {
    org: number
    endpoint: number
    since: number
    until: number | null
    room_id: number
    endpoint_id: string
    /** This and the next three are the endpoint's at the end of the stay. They are null while the stay lasts, and if they were not stored. */
    serial: Generated<string | null>
    model: Generated<string | null>
    /** The `kind` of its status: the table of models comes first. */
    reported_kind: Generated<string | null>
    presence_only: Generated<number | null>
  }
  /** Rooms that were deleted, as they were then. */
  deleted_rooms: {
    org: number
    id: number
    name: string
    location_id: number | null
    location_name: string | null
    region_id: number | null
    region_name: string | null
    /** The time zone of the location. Null means that of the organisation. */
    timezone: string | null
    capacity: number | null
    tags: string
    fields: string | null
    deleted_at: number
  }
  /** The change windows that locations had before. A row was in force until its time, from the row before it on. */
  former_change_windows: {
    org: number
    location_id: number
    until: number
    /** WeeklyHours as JSON; null while the location had none. */
    change_window: string | null
  }
  /** The endpoints that have reported that they are gateways. */
  gateways: {
    org: number
    endpoint_id: string
    /** The version of the list of devices. It rises when the gateway has something to read. */
    version: number
  }
  /** The items of gateways. */
  gateway_devices: GatewayTargetColumns & {
    org: number
    id: string
    gateway_id: string
    /** Rises when a person changes the item or wants it to be tried again. */
    revision: number
    /** The revision at which a person last changed more than name and room, or wanted the item to be tried again. */
    target_revision: number
    /** The room of the endpoint, or the one that it will enrol in; null if that was deleted. */
    room_id: number | null
    name: string | null
    endpoint_id: string | null
    /** The endpoint that the device has already, if the item is a DUPLICATE. */
    duplicate_of: string | null
    state: GatewayDeviceState
    reason: string | null
    since: number
    /** The last time at which it became CONNECTED at this address. */
    reached_at: number | null
    created_at: number
    /** The source that the device belongs to, and its key there. */
    source_id: string | null
    source_key: string | null
  }
  /** The systems that gateways read. */
  sources: {
    org: number
    id: string
    gateway_id: string
    type: SourceType
    name: string
    url: string
    /** JSON without secrets. */
    settings: string
    /** Sealed JSON with the secret fields; null without any. */
    secrets: Buffer | null
    /** New devices are adopted into this room. The room may be gone. */
    enrol_room_id: number | null
    /** Rises when a person changes the source or wants it to be tried again. */
    revision: number
    target_revision: number
    /** Nothing is known about its devices while it is not CONNECTED. */
    state: SourceState
    reason: string | null
    since: number
    /** The last time at which it became CONNECTED at this address. */
    reached_at: number | null
    /** The last time at which it became CONNECTED; the grace period of its devices starts then. */
    returned_at: number | null
    /** JSON with numbers. */
    content: string | null
    /** When the gateway last read its regions, locations, rooms and profiles. */
    structure_at: number | null
    created_at: number
  }
  /** When sources were not CONNECTED; the last period of a source has no end while it lasts. */
  source_absences: {
    org: number
    source_id: string
    since: number
    until: number | null
  }
  /** The absences of sources that were deleted. One that lasted then has ended with its source. */
  former_source_absences: {
    org: number
    source_id: string
    since: number
    until: number
    /** Nothing is hidden from then on: the devices have lost their source. */
    deleted_at: number
  }
  /** The devices that gateways found at sources. One that has an item is adopted. */
  source_devices: {
    org: number
    source_id: string
    key: string
    /** 1 if a person does not want it here. */
    is_excluded: number
    /** 1 if the source no longer lists it. */
    is_missing: number
    /** JSON: what the gateway reported, without the last message. */
    report: string
    last_message: string | null
    found_at: number
  }
  /** The regions, locations, rooms and profiles of sources, as their gateways read them. */
  source_things: {
    org: number
    source_id: string
    kind: LinkedKind
    their_id: string
    /** JSON: what the gateway reported. */
    report: string
    /** The reading that it is from. */
    read_at: number
  }
  /** Which thing here belongs to which one of a source. The thing may be gone. */
  source_links: {
    org: number
    source_id: string
    kind: LinkedKind
    their_id: string
    our_id: number
  }
  gateway_tests: GatewayTargetColumns & {
    org: number
    id: string
    gateway_id: string
    created_at: number
    /** 1 if it was answered, or is no longer waited for. */
    ended: number
    /** JSON. */
    answer: string | null
  }
  /** Requests of the last 24 hours that were sent with an Idempotency-Key. */
  idempotency_keys: {
    org: number
    /** Hash of the caller and the key. */
    id: Buffer
    /** Hash of what must be the same in a repeat. */
    request: Buffer
    /** Counts the keys of the organisation, without gaps but those of keys that were deleted or used again after 24 hours. */
    number: number
    /** The bytes of this answer and of all before it. */
    total_bytes: number
    /** The number of the audit entry. */
    entry: number
    /** The sealed answer; null if a repeat does not get it. */
    answer: Buffer | null
    etag: string | null
    /** Until then the answer may still be written. */
    pending_until: number | null
    created_at: number
  }
  credential_directory: { hash: Buffer; org: number; endpoint_id: string }
  /** Hashes of the credentials of endpoints that were unenrolled within the last 90 days. */
  past_credentials: { hash: Buffer; org: number; endpoint_id: string; serial: string; unenrolled_at: number }
  serial_directory: { serial: string; org: number; endpoint_id: string }
  dec_past: { mac: Buffer; org: number; room_id: number }
  /** A row with only defaults means that nothing was ever set or reported. */
  endpoint_configs: {
    org: number
    endpoint_id: string
    version: Generated<number>
    state: Generated<string>
    error: string | null
    explicit: Generated<string>
    secrets: Generated<string>
    reported_version: Generated<number>
    reported: Generated<string>
    reported_at: number | null
    rejected: Generated<string>
  }
  config_versions: {
    org: number
    endpoint_id: string
    version: number
    state: string
    error: string | null
    explicit: string
    secrets: string
    profile_id: number | null
    profile: string
    profile_secrets: string
    author_type: string
    author_id: string
    author_name: string
    created_at: number
    updated_at: number
    /** The job that made it. */
    job_id: number | null
  }
  operations: {
    org: number
    id: string
    endpoint_id: string
    type: string
    state: string
    payload: string
    created_at: number
    updated_at: number
    deadline: number
    /** The first and the last time that the command was sent. */
    sent_at: number | null
    told_at: number | null
    /** The numbers of the connections over which it was first and last sent. */
    sent_connection: number | null
    told_connection: number | null
    error: string | null
    /** Set if the reboot waits for idle rooms, or also for the change window. */
    reboot_time: 'idle' | 'window' | null
    waits_for: OperationWait | null
    /** The operations of one request have the id of the first of them, if they wait. */
    group_id: string | null
    /** The operation that this row is an attempt to send. Answers do not show attempts. */
    attempt_of: string | null
  }
  bug_reports: { org: number; id: string; created_at: number; expires_at: number; in_call_logs: number }
  bug_report_items: {
    org: number
    report_id: string
    endpoint_id: string
    serial: string
    model: string
    operation_id: string
    file: string | null
    size: number | null
    uploaded_at: number | null
    /** The upload that counts; null without one, and for bundles of version 0.1. */
    upload_id: string | null
  }
  bundle_uploads: {
    org: number
    id: string
    report_id: string
    endpoint_id: string
    /** Its size; while it is uploaded, the most that it may become. */
    bytes: number
    started_at: number
  }
  /** Exists on PostgreSQL only. */
  bundle_chunks: { org: number; upload_id: string; seq: number; bytes: Buffer }
  samples: { org: number; slot: number; endpoint: number } & SampleValues
  samples_latest: { org: number; endpoint: number } & SampleValues
  /** Rollups over 15 minutes and an hour (UTC), and over days in the organisation's time zone. */
  sample_quarters: Rollup
  sample_hours: Rollup
  sample_days: Rollup
  /** Quarters of an hour whose rollup does not include every sample yet. */
  sample_due: { org: number; endpoint: number; slot: number }
  /**
   * The time zone of the daily rollups, empty while they are recomputed, and the Unix seconds from which on raw samples and
   * quarters are complete: older ones have expired.
   */
  sample_progress: {
    org: number
    timezone: string
    samples_from: Generated<number>
    quarters_from: Generated<number>
    /** All days (UTC) from this one on have their rollups of rooms; null before the first was made, and 0 when all are. */
    room_days_from: Generated<number | null>
  }
  /** The values of a room in the 96 quarters of a day (UTC), as `sensors/rollups/quarter-values.ts` packs them. */
  room_days: { org: number; room: number; day: number } & Record<RoomDaySensor, Buffer | null>
}

// Reads where the endpoints of an organisation are, and caches it until a write changes that.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { minuteMs } from '../../../contract/durations.ts'
import { endpointLabel } from '../../../contract/fleet/endpoint-label.ts'
import type { Database } from '../../db/db.ts'
import type { OrgReader } from '../../db/handles.ts'
import type { WrittenRows } from '../../db/written-rows.ts'
import { listGroupedEndpointsAfter } from '../../fleet/endpoints/store.ts'
import type { PresenceTimes } from '../../nodes/presence-sql.ts'
import { listConnectedSince } from './observations/endpoint-store.ts'
import { slackMs } from './observations/input.ts'
import { listLocationPlaces, listRoomPlaces } from './structure-store.ts'
import type { Finding, Structure, StructureEndpoint } from './types.ts'

export interface StructureOrg {
  readonly key: number
  readonly id: string
  readonly name: string
  readonly timezone: string
}

/** SQLite blocks the event loop while it reads a page. */
const rowsPerPage = 500
/** The writes of devices at other nodes do not invalidate this cache: a first connect (see `refresh`), a pair that changes. */
const maxAgeMs = 10 * minuteMs
/** An update of other columns of an endpoint changes nothing here. */
const endpointColumns = ['room_id', 'serial', 'model', 'name', 'pairing_serial', 'via']

interface CachedStructure {
  readonly structure: Structure
  readonly readAt: number
}

export class StructureCache {
  readonly #cached = new Map<number, CachedStructure>()
  /** Counts the writes of each organisation, so that a read detects one that happened during it. Undefined stands for any organisation. */
  readonly #writes = new Map<number | undefined, number>()

  constructor(db: Database) {
    for (const table of ['rooms', 'locations'] as const) db.onWrite(table, (rows) => this.#drop(rows))
    db.onWrite('endpoints', (rows) => {
      if (this.#isChanged(rows)) this.#drop(rows)
    })
  }

  /** The findings of the organisation show whether a device has connected for the first time at another node. */
  async read(on: OrgReader, org: StructureOrg, now: number, findings: readonly Finding[]): Promise<Structure> {
    const known = this.#cached.get(org.key)
    if (known && isCurrent(known, org, now, findings)) return known.structure
    const writes = this.#countWrites(org.key)
    const structure = await readStructure(on, org)
    if (writes === this.#countWrites(org.key)) this.#cached.set(org.key, { structure, readAt: now })
    return structure
  }

  /**
   * Reads it again if a device of it has connected for the first time since it was read. At another node that is not announced, and a
   * room whose only connected device is new would count as offline.
   */
  async refresh(on: OrgReader, org: StructureOrg, times: PresenceTimes): Promise<Structure> {
    const { now } = times
    const known = this.#cached.get(org.key)
    if (!known) return this.read(on, org, now, [])
    const connected = await listConnectedSince(on, { ...times, from: known.readAt - slackMs })
    if (connected.every(({ id }) => known.structure.endpoints.get(id)?.wasConnected ?? true)) return known.structure
    this.#cached.delete(org.key)
    return this.read(on, org, now, [])
  }

  #countWrites(org: number): number {
    return (this.#writes.get(org) ?? 0) + (this.#writes.get(undefined) ?? 0)
  }

  #isChanged({ org, where, columns }: WrittenRows): boolean {
    if (!columns || endpointColumns.some((column) => columns.has(column))) return true
    // The first connect of a device.
    if (!columns.has('connection')) return false
    const known = org === undefined ? undefined : this.#cached.get(org)?.structure.endpoints.get(String(where.id))
    return known?.wasConnected === false
  }

  #drop({ org }: WrittenRows): void {
    this.#writes.set(org, (this.#writes.get(org) ?? 0) + 1)
    if (org === undefined) this.#cached.clear()
    else this.#cached.delete(org)
  }
}

function isCurrent(
  { structure, readAt }: CachedStructure,
  { name, timezone }: StructureOrg,
  now: number,
  findings: readonly Finding[],
): boolean {
  if (now < readAt || now - readAt >= maxAgeMs) return false
  if (structure.orgName !== name || structure.timezone !== timezone) return false
  // A device that is offline was connected before.
  const isLaterConnected = ({ rule, subject, since }: Finding) =>
    since > readAt && rule === 'device.offline' && structure.endpoints.get(subject.id)?.wasConnected === false
  return !findings.some(isLaterConnected)
}

async function readStructure(on: OrgReader, { id: orgId, name: orgName, timezone }: StructureOrg): Promise<Structure> {
  const endpoints = new Map<string, StructureEndpoint>()
  for (let after = ''; ; await nextTurn()) {
    const rows = await listGroupedEndpointsAfter(on, { after, limit: rowsPerPage })
    for (const row of rows) {
      const { id, model, room_id: roomId, was_connected, via, leader, apart } = row
      const wasConnected = Boolean(was_connected)
      endpoints.set(id, {
        id,
        name: endpointLabel(row),
        model,
        roomId,
        wasConnected,
        via,
        pairGroup: `${leader} ${apart}`,
      })
    }
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerPage) break
    after = last.id
  }
  const rooms = await listRoomPlaces(on)
  const locations = await listLocationPlaces(on)
  return {
    orgId,
    orgName,
    timezone,
    endpoints,
    gateways: new Set([...endpoints.values()].flatMap(({ via }) => via ?? [])),
    rooms: new Map(rooms.map((room) => [room.id, room])),
    locations: new Map(locations.map((location) => [location.id, location])),
  }
}

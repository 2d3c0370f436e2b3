// Stores what gateways report about their sources: their states, their devices and their structure. [contract 15.reports]
import { configKeys } from '../../../contract/device/config-keys.ts'
import type { SourcesReport } from '../../../contract/device/protocol.ts'
import {
  type FoundDevices,
  linkedKinds,
  maxSourceDevices,
  type SourceState,
  type StructurePart,
  type StructureThings,
} from '../../../contract/fleet/sources.ts'
import { unrestrictedContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { TelemetryTx, Tx } from '../../db/handles.ts'
import { ConnectionReplaced, connectionKey, type Device, type DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { change } from '../../journal/audit/change.ts'
import { pickShownValues } from '../configs/reported.ts'
import { hiddenBeforeEndMs } from '../connections/availability.ts'
import { listOtherwiseMissing, updateLeftWithSource, updateMissingAtSource } from '../endpoints/device-store.ts'
import type { DeviceOrigin } from '../endpoints/enrol.ts'
import { lockConnection } from '../endpoints/store.ts'
import { raiseListVersions } from '../gateways/store.ts'
import { findRoom } from '../rooms/store.ts'
import { endAbsence, startAbsence } from './absence-store.ts'
import { adoptDevices, freeItems } from './devices.ts'
import { publishDevicesOfSource } from './presence.ts'
import {
  countKnown,
  deleteMissing,
  type FoundRow,
  findOwnSource,
  listKnownKeys,
  listPresentKeys,
  type OwnSource,
  updateMissing,
  updateSourceReason,
  updateSourceState,
  upsertDevices,
} from './report-store.ts'
import { sourceRef } from './rules.ts'
import { countThings, deleteOtherThings, type ThingRow, updateStructureTime, upsertThings } from './structure-store.ts'

type ReportedState = SourcesReport['sources'][number]

/** A report counts for the present revision only. Unknown sources are ignored: a person has deleted them. */
export async function storeSourceStates(
  services: Services,
  connection: DeviceConnection,
  { sources }: SourcesReport,
): Promise<void> {
  const { db, clock, feed } = services
  const { device: gateway } = connection
  const at = clock.now()
  const outcome = await db.forOrg(gateway.org.key).telemetry(async (on) => {
    if (!(await lockConnection(on, connectionKey(connection)))) return 'replaced'
    const changed: { readonly id: string; readonly isPresence: boolean }[] = []
    for (const report of sources) {
      const isPresence = await storeState(on, gateway, report, at)
      if (isPresence !== undefined) changed.push({ id: report.id, isPresence })
    }
    return changed
  })
  if (outcome === 'replaced') throw new ConnectionReplaced()
  const events = feed.forOrg(gateway.org.key)
  if (outcome.length > 0) events.publish([{ type: 'status', endpointId: gateway.id }])
  for (const { id, isPresence } of outcome) {
    if (isPresence) await publishDevicesOfSource(db.forOrg(gateway.org.key), events, id)
  }
}

/** Returns undefined if nothing changed, or else whether the source left or returned. */
async function storeState(
  on: TelemetryTx,
  gateway: Device,
  report: ReportedState,
  at: number,
): Promise<boolean | undefined> {
  const { id, revision, state, reason = null, content } = report
  const before = await findOwnSource(on, { gateway: gateway.id, id })
  if (before?.revision !== revision) return undefined
  const values = { id, revision, reason, content: content ? JSON.stringify(content) : before.content }
  if (before.state === state) return (await updateSourceReason(on, values)) ? false : undefined
  const returned = state === 'CONNECTED' ? at : null
  if (!(await updateSourceState(on, { ...values, state: state as SourceState, since: at, returned }))) return undefined
  if (state === 'CONNECTED') await endAbsence(on, { source: id, at })
  if (before.state !== 'CONNECTED') return state === 'CONNECTED'
  await startAbsence(on, { source: id, at })
  await updateLeftWithSource(on, { source: id, from: at - hiddenBeforeEndMs })
  return true
}

/** Devices beyond the limit are ignored. Those of a source that enrols by itself are adopted in the transaction that inserts them. */
export async function storeFoundDevices(
  services: Services,
  gateway: Device,
  sourceId: string,
  report: FoundDevices,
  origin: DeviceOrigin,
): Promise<void> {
  const { db, clock, feed, devices } = services
  const on = db.forOrg(gateway.org.key)
  const source = await requireOwnSource(services, gateway, sourceId)
  const now = clock.now()
  const store = () => on.telemetry((tx) => storeDevices(tx, gateway, sourceId, report, now))
  let stored: Stored
  if (source.enrol_room_id === null) {
    stored = await store()
  } else {
    const actor = { type: 'DEVICE', id: gateway.serial, name: gateway.serial } as const
    const ctx = unrestrictedContext(services, gateway.org, actor, origin)
    const known = new Set((await listKnownKeys(on, { source: sourceId, keys: keysOf(report) })).map(({ key }) => key))
    const mayAdopt = report.devices.some(({ key, refusedBecause }) => !known.has(key) && refusedBecause === undefined)
    if (mayAdopt) {
      stored = await change(ctx, 'sourceDevicesUpdate', async (tx) => {
        const result = await storeDevices(tx, gateway, sourceId, report, now)
        const { source, added } = result
        const adopted = source ? await adoptNew(tx, source, added, now) : []
        return {
          result,
          target: sourceRef({ id: sourceId, name: source?.name ?? '' }),
          after: { adopted, roomIds: source?.enrol_room_id ?? undefined },
        }
      })
      devices.wake([gateway.id])
    } else {
      stored = await store()
    }
  }
  const ids = [gateway.id, ...stored.changed]
  feed.forOrg(gateway.org.key).publish(ids.map((endpointId) => ({ type: 'status', endpointId })))
}

interface Stored {
  readonly source: OwnSource | undefined
  /** The keys of the devices that were not known and can be adopted. */
  readonly added: readonly string[]
  /** The endpoints that are missing now, or no longer. */
  readonly changed: readonly string[]
}

async function storeDevices(
  tx: TelemetryTx | Tx,
  gateway: Device,
  sourceId: string,
  report: FoundDevices,
  now: number,
): Promise<Stored> {
  const { revision, devices } = report
  const source = await findOwnSource(tx, { gateway: gateway.id, id: sourceId })
  if (source?.revision !== revision) return { source, added: [], changed: [] }
  const known = new Set((await listKnownKeys(tx, { source: sourceId, keys: keysOf(report) })).map(({ key }) => key))
  const newCount = new Set(devices.flatMap(({ key }) => (known.has(key) ? [] : key))).size
  let free = newCount === 0 ? 0 : await freePlaces(tx, sourceId, newCount)
  const added: string[] = []
  const rows = new Map<string, FoundRow>()
  for (const { key, isMissing = false, lastMessage = null, ...report } of devices) {
    const isNew = !known.has(key)
    if (isNew && free-- <= 0) continue
    known.add(key)
    rows.set(key, [key, isMissing ? 1 : 0, JSON.stringify({ key, ...report }), lastMessage && storable(lastMessage)])
    if (isNew && report.refusedBecause === undefined && !isMissing) added.push(key)
  }
  await upsertDevices(tx, { source: sourceId, rows: [...rows.values()], at: now })
  if (report.listed) await storeList(tx, sourceId, report.listed)
  return { source, added, changed: await storeMissing(tx, sourceId) }
}

/** Returns the endpoints that are missing now, or no longer. */
async function storeMissing(tx: TelemetryTx | Tx, source: string): Promise<readonly string[]> {
  const rows = await listOtherwiseMissing(tx, { source })
  for (const [missing, changed] of Map.groupBy(rows, (row) => row.is_missing))
    await updateMissingAtSource(tx, { ids: changed.map(({ id }) => id), missing })
  return rows.map(({ id }) => id)
}

/** A gateway that has just started does not know which devices it has reported before, so it sends the whole list. */
async function storeList(tx: TelemetryTx | Tx, source: string, listed: readonly string[]): Promise<void> {
  const there = new Set(listed)
  const present = await listPresentKeys(tx, { source })
  const keys = present.flatMap(({ key }) => (there.has(key) ? [] : [key]))
  if (keys.length > 0) await updateMissing(tx, { source, keys })
}

/** New devices take the place of those that are missing and FOUND. Returns how many can be added. */
async function freePlaces(tx: TelemetryTx | Tx, source: string, wanted: number): Promise<number> {
  const freeOf = async () => maxSourceDevices - Number((await countKnown(tx, { source }))?.devices ?? 0)
  const free = await freeOf()
  if (free >= wanted) return free
  await deleteMissing(tx, { source, limit: wanted - free })
  return freeOf()
}

const keysOf = ({ devices }: FoundDevices) => devices.map(({ key }) => key)

/** Messages are whatever a device sent. PostgreSQL stores no character with the number 0. */
const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed()

/** Adopts as many as the gateway can have. The others wait for a person. */
async function adoptNew(tx: Tx, source: OwnSource, keys: readonly string[], now: number): Promise<readonly string[]> {
  const room = source.enrol_room_id === null ? undefined : await findRoom(tx, { id: source.enrol_room_id })
  if (!room) return []
  const adopted = keys.slice(0, await freeItems(tx, source.gateway_id))
  await adoptDevices(
    tx,
    source,
    adopted.map((key) => ({ key, roomId: room.id, name: null })),
    now,
  )
  if (adopted.length > 0) await raiseListVersions(tx, { gateways: [source.gateway_id] })
  return adopted
}

/** With the last part of a reading the things of the one before are gone, and those of readings that were never completed. */
export async function storeStructure(
  services: Services,
  gateway: Device,
  sourceId: string,
  { revision, readAt: readAtText, isLast, ...lists }: StructurePart,
): Promise<void> {
  const { db, feed } = services
  await requireOwnSource(services, gateway, sourceId)
  const readAt = Date.parse(readAtText)
  const rows = rowsOf(lists)
  const isStored = await db.forOrg(gateway.org.key).telemetry(async (on) => {
    const source = await findOwnSource(on, { gateway: gateway.id, id: sourceId })
    if (source?.revision !== revision) return false
    const known = Number((await countThings(on, { source: sourceId, readAt }))?.things ?? 0)
    if (known + rows.length > maxStructureThings) {
      throw new Failure('FAILED_PRECONDITION', `a structure has at most ${maxStructureThings} things.`)
    }
    await upsertThings(on, { source: sourceId, rows, readAt })
    const keptAt = isLast || source.structure_at === null ? readAt : source.structure_at
    await deleteOtherThings(on, { source: sourceId, readAt, keptAt })
    return isLast && (await updateStructureTime(on, { id: sourceId, revision, readAt }))
  })
  if (isStored) feed.forOrg(gateway.org.key).publish([{ type: 'status', endpointId: gateway.id }])
}

const maxStructureThings = linkedKinds.length * maxSourceDevices

/** Each thing once: a list that repeats an id has its last thing. */
function rowsOf({ regions = [], locations = [], rooms = [], profiles = [] }: Partial<StructureThings>): ThingRow[] {
  const settled = profiles.map((profile) => ({
    ...profile,
    ...(profile.config && { config: pickShownValues(profile.config, configKeys) }),
  }))
  const lists = { region: regions, location: locations, room: rooms, profile: settled }
  return linkedKinds.flatMap((kind) =>
    [...new Map(lists[kind].map((thing) => [thing.id, JSON.stringify(thing)]))].map(
      ([theirId, report]): ThingRow => [kind, theirId, report],
    ),
  )
}

/** A source of another gateway does not exist for this one. */
const requireOwnSource = async ({ db }: Services, { org, id: gateway }: Device, sourceId: string) =>
  mustFind(
    await findOwnSource(db.forOrg(org.key), { gateway, id: sourceId }),
    `source ${sourceId.slice(0, 64)} of this gateway`,
  )

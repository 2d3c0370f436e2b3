// The rules of sources, one function for each operation. [contract 15.sources]
import { randomUUID } from 'node:crypto'
import { maxSourcesPerOrg } from '../../../contract/fleet/sources.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, findReferenced, invalid, mustFind } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import { type AuditRef, auditRef } from '../../journal/audit/change-result.ts'
import { unenrolEndpoint } from '../endpoints/rules.ts'
import { releaseEndpoints } from '../endpoints/store.ts'
import {
  deleteItemsOfSource,
  findGateway,
  listItemsOfSource,
  raiseListVersions,
  updateItemAddresses,
} from '../gateways/store.ts'
import { findRoom } from '../rooms/store.ts'
import { keepAbsences, startAbsence } from './absence-store.ts'
import {
  auditedSource,
  changedSourceSecrets,
  hostOf,
  isConnectedAnew,
  requestedSource,
  type SourceRow,
  type SourceTarget,
  type StoredSettings,
  sourceContext,
  sourceTargetOf,
  sourceTargetRow,
} from './fields.ts'
import { publishDevicesOfSource } from './presence.ts'
import {
  countDevices,
  countDevicesOfSource,
  deleteSource,
  findSource,
  insertSource,
  listSources,
  type ShownSource,
  updateSource,
} from './store.ts'
import { sourceAnswer, sourceView } from './view.ts'

export async function sourcesList(ctx: RequestContext) {
  const rows = await listSources(ctx.db)
  const counts = Map.groupBy(await countDevices(ctx.db), (row) => row.source_id)
  return { sources: rows.map((row) => sourceView(row, storedSource(ctx, row), counts.get(row.id) ?? [])) }
}

export const sourcesGet = (ctx: RequestContext, id: string) => shown(ctx, ctx.db, id)

export async function sourcesCreate(ctx: RequestContext, body: InputOf<'sourcesCreate'>['body']) {
  const { type, gatewayId, name = defaultNames[type], enrolIntoRoomId, ...wanted } = body
  const { target } = requestedSource({ type, ...wanted })
  refuseRoom(type, enrolIntoRoomId)
  const answer = await change(ctx, 'sourcesCreate', async (tx) => {
    const gateway = await requireGatewayOfBody(tx, gatewayId)
    const room = await findReferencedRoom(tx, enrolIntoRoomId)
    if ((await listSources(tx)).length >= maxSourcesPerOrg) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `an organisation has at most ${maxSourcesPerOrg} sources. Delete one first.`,
      )
    }
    const now = ctx.clock.now()
    const id = randomUUID()
    const row: SourceRow = {
      id,
      gateway_id: gateway.id,
      type,
      name,
      ...sourceTargetRow(target, ctx.secrets, sourceContext(ctx.org, id)),
      enrol_room_id: room?.id ?? null,
      revision: 1,
      target_revision: 1,
      state: 'NEW',
      reason: null,
      since: now,
      reached_at: null,
      returned_at: null,
      content: null,
      created_at: now,
    }
    await insertSource(tx, row)
    await startAbsence(tx, { source: id, at: now })
    await raiseListVersions(tx, { gateways: [gateway.id] })
    return {
      result: await shown(ctx, tx, id),
      target: sourceRef(row),
      after: auditedSource.all({ row, target }),
    }
  })
  ctx.devices.wake([gatewayId])
  return answer
}

const defaultNames = { 'neat-pulse': 'Neat Pulse', mqtt: 'MQTT' } as const

export async function sourcesUpdate(ctx: RequestContext, id: string, body: InputOf<'sourcesUpdate'>['body']) {
  const { answer, gateway, isAnew } = await change(ctx, 'sourcesUpdate', async (tx) => {
    const before = await requireSource(tx, id)
    checkIfMatch(ctx, before.revision)
    const { name = before.name, enrolIntoRoomId, ...wanted } = body
    refuseRoom(before.type, enrolIntoRoomId)
    const stored = storedSource(ctx, before)
    const { target, hasMoved } = requestedSource(wanted, stored)
    const room = await findReferencedRoom(tx, enrolIntoRoomId)
    const now = ctx.clock.now()
    const isAnew = isConnectedAnew(stored, target)
    const place = { name, enrol_room_id: enrolIntoRoomId === undefined ? before.enrol_room_id : (room?.id ?? null) }
    const hasOtherPlace = place.name !== before.name || place.enrol_room_id !== before.enrol_room_id
    const isOtherTarget = JSON.stringify(target) !== JSON.stringify(stored)
    // An Update that changes nothing wants the source to be tried again.
    const isTried = isAnew || !(isOtherTarget || hasOtherPlace)
    const row: SourceRow = {
      ...before,
      ...sourceTargetRow(target, ctx.secrets, sourceContext(ctx.org, id)),
      ...place,
      revision: before.revision + 1,
      ...(isTried && { target_revision: before.revision + 1 }),
      ...(isAnew && { state: 'NEW' as const, reason: null, since: now }),
      ...(hasMoved && { reached_at: null, content: null }),
    }
    await updateSource(tx, row)
    // The state before may have changed since it was read: the gateway reports it without the lock of changes.
    if (isAnew) await startAbsence(tx, { source: id, at: now })
    if (hasMoved) await updateItemAddresses(tx, { source: id, ...hostOf(target.url) })
    await raiseListVersions(tx, { gateways: [row.gateway_id] })
    return {
      result: { answer: await shown(ctx, tx, id), gateway: row.gateway_id, isAnew },
      target: sourceRef(row),
      ...auditedSource.change(
        { row: before, target: stored },
        { row, target, changed: changedSourceSecrets(stored, target) },
      ),
    }
  })
  if (isAnew) await publishDevicesOfSource(ctx.db, ctx.events, id)
  ctx.devices.wake([gateway])
  return answer
}

/** The gateway loses the devices in both cases: their credentials stop working. */
export async function sourcesDelete(ctx: RequestContext, id: string, isUnenrolled = false) {
  const { endpoints, gateway } = await change(ctx, 'sourcesDelete', async (tx) => {
    const row = await requireSource(tx, id)
    checkIfMatch(ctx, row.revision)
    const items = await listItemsOfSource(tx, { source: id })
    const endpoints = items.flatMap(({ known_endpoint_id }) => known_endpoint_id ?? [])
    await deleteItemsOfSource(tx, { source: id })
    if (isUnenrolled) for (const endpoint of endpoints) await unenrolEndpoint(tx, ctx, endpoint)
    else await releaseEndpoints(tx, endpoints)
    await keepAbsences(tx, { source: id, at: ctx.clock.now() })
    await deleteSource(tx, { id })
    await raiseListVersions(tx, { gateways: [row.gateway_id] })
    return {
      result: { endpoints, gateway: row.gateway_id },
      target: sourceRef(row),
      before: { ...auditedSource.all({ row, target: storedSource(ctx, row) }), devices: items.length },
    }
  })
  ctx.devices.cut(endpoints, isUnenrolled ? 'unenrolled' : 'released')
  ctx.devices.wake([gateway])
  return {}
}

export const requireSource = async (on: OrgReader, id: string): Promise<ShownSource> =>
  mustFind(await findSource(on, { id }), `source ${id}`)

/** Nothing is sent to its devices: `write` is false, or the source has no such setting. */
export async function isReadOnlySource(on: OrgReader, id: string): Promise<boolean> {
  const { settings } = await requireSource(on, id)
  return (JSON.parse(settings) as StoredSettings).write !== true
}

export async function requireGatewayOfBody(on: OrgReader, id: string) {
  const gateway = await findGateway(on, { id })
  if (!gateway) {
    throw new Failure('FAILED_PRECONDITION', `there is no gateway ${id.slice(0, 64)}. Start one, or name another.`)
  }
  return gateway
}

/** Rooms of mirrored devices are chosen by people, or come from the source. */
function refuseRoom(type: ShownSource['type'], room: number | null | undefined): void {
  if (type === 'mqtt' || room === undefined || room === null) return
  throw invalid([{ field: 'enrolIntoRoomId', error: `is not a field of a source of the type ${type}` }])
}

const findReferencedRoom = (tx: Tx, id: number | null | undefined) =>
  findReferenced('room', id, (known) => findRoom(tx, { id: known }))

export const storedSource = (ctx: Pick<RequestContext, 'org' | 'secrets'>, row: SourceRow): SourceTarget =>
  sourceTargetOf(row, ctx.secrets, sourceContext(ctx.org, row.id))

async function shown(ctx: RequestContext, on: OrgReader, id: string) {
  const row = await requireSource(on, id)
  const counts = await countDevicesOfSource(on, { source: id })
  return sourceAnswer(row, sourceView(row, storedSource(ctx, row), counts))
}

export const sourceRef = (row: Pick<SourceRow, 'id' | 'name'>): AuditRef => auditRef('source', row)

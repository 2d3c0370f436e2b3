// The devices that gateways found at a source: what people see of them, and which of them they adopt. [contract 15.devices]
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { maxGatewayDevices } from '../../../contract/fleet/gateways.ts'
import type { FoundDevice } from '../../../contract/fleet/sources.ts'
import { type ReadyAnswer, TextChunks } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, invalid, mustFindAll } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import type { endpointRef } from '../endpoints/fields.ts'
import { moveEndpoints } from '../endpoints/rules.ts'
import type { GatewayItemRow } from '../gateways/fields.ts'
import { requireItem } from '../gateways/rules.ts'
import { insertItem, listAllItems, raiseListVersions, updateItem } from '../gateways/store.ts'
import { findRoom } from '../rooms/store.ts'
import { hostOf, type SourceRow } from './fields.ts'
import { requireSource, sourceRef } from './rules.ts'
import { findLastMessage, listDevicesAfter, listDevicesByKey, type SourceDeviceRow, updateExcluded } from './store.ts'
import { listLinksOf, listThingsById } from './structure-store.ts'
import { deviceView } from './view.ts'

/** Devices that are read and written in one turn of the event loop. */
const devicesPerTurn = 200

export async function sourceDevicesList(
  ctx: RequestContext,
  id: string,
  { state, key }: InputOf<'sourceDevicesList'>['query'],
): Promise<ReadyAnswer> {
  await requireSource(ctx.db, id)
  const answer = new TextChunks()
  answer.add('{"devices":[')
  let isFirst = true
  for await (const rows of key === undefined
    ? pagesOf(ctx.db, id)
    : [await listDevicesByKey(ctx.db, { source: id, keys: [key] })]) {
    const wanted = rows.filter((row) => state === undefined || row.state === state)
    if (wanted.length === 0) continue
    const message = key === undefined ? undefined : await findLastMessage(ctx.db, { source: id, key })
    const devices = await views(ctx.db, id, wanted, message?.last_message)
    answer.add(`${isFirst ? '' : ','}${devices.map((device) => JSON.stringify(device)).join()}`)
    isFirst = false
  }
  answer.add(']}')
  return answer.end()
}

/** All devices, in the order in which they were found. */
async function* pagesOf(on: OrgReader, source: string) {
  for (let after = { found_at: 0, key: '' }; ; ) {
    const rows = await listDevicesAfter(on, { source, foundAt: after.found_at, key: after.key, limit: devicesPerTurn })
    yield rows
    const last = rows.at(-1)
    if (!last || rows.length < devicesPerTurn) return
    after = last
    await nextTurn()
  }
}

async function views(on: OrgReader, source: string, rows: readonly SourceDeviceRow[], lastMessage?: string | null) {
  const reports = rows.map(({ report }): FoundDevice => JSON.parse(report))
  const ids = [...new Set(reports.flatMap(({ theirRoomId }) => theirRoomId ?? []))]
  const things = ids.length === 0 ? [] : await listThingsById(on, { source, kind: 'room', ids })
  const names = new Map(things.map(({ their_id, report }): [string, string] => [their_id, JSON.parse(report).name]))
  const links = ids.length === 0 ? [] : await listLinksOf(on, { source, kind: 'room', ids })
  const places = { names, links: new Map(links.map(({ their_id, our_id }) => [their_id, our_id])) }
  return rows.map((row, i) => deviceView(row, reports[i] as FoundDevice, places, lastMessage))
}

type Decision = InputOf<'sourceDevicesUpdate'>['body']['devices'][number]

export const sourceDevicesUpdate = (ctx: RequestContext, id: string, decisions: readonly Decision[]) =>
  change(ctx, 'sourceDevicesUpdate', async (tx) => {
    const source = await requireSource(tx, id)
    const keys = decisions.map(({ key }) => key)
    const repeated = decisions.flatMap(({ key }, i) => (keys.indexOf(key) < i ? [i] : []))
    if (repeated.length > 0) {
      throw invalid(repeated.map((i) => ({ field: `devices[${i}].key`, error: 'is named twice' })))
    }
    const found = await listDevicesByKey(tx, { source: id, keys })
    const rows = mustFindAll(
      'devices',
      'device',
      keys,
      found.map((row) => ({ ...row, id: row.key })),
    )
    await requireRooms(tx, decisions)
    const adoptions: Adoption[] = []
    const excluded: string[] = []
    const included: string[] = []
    const moves: { readonly item: string; readonly decision: Decision }[] = []
    for (const [i, decision] of decisions.entries()) {
      const row = rows[i] as SourceDeviceRow
      const { key, state = row.state, roomId, name = null } = decision
      if (row.item_id !== null) {
        if (state !== 'ADOPTED') throw isAdopted(key)
        moves.push({ item: row.item_id, decision })
      } else if (state === 'ADOPTED') {
        refuseAdoption(row, roomId, i)
        adoptions.push({ key, roomId: Number(roomId), name })
      } else {
        if (roomId !== undefined || name !== null) throw isNotAdopted(key)
        if (state === 'EXCLUDED') excluded.push(key)
        else included.push(key)
      }
    }
    await updateExcluded(tx, { source: id, keys: excluded, excluded: 1 })
    await updateExcluded(tx, { source: id, keys: [...included, ...adoptions.map(({ key }) => key)], excluded: 0 })
    await adoptDevices(tx, source, adoptions, ctx.clock.now())
    const moved = await moveAdopted(tx, ctx, source, moves)
    await raiseListVersions(tx, { gateways: [source.gateway_id] })
    const shown = await listDevicesByKey(tx, { source: id, keys })
    const inOrder = keys.map((key) => shown.find((row) => row.key === key) as SourceDeviceRow)
    return {
      result: { devices: await views(tx, id, inOrder) },
      afterCommit: () => ctx.devices.wake([source.gateway_id, ...moved.changed]),
      target: sourceRef(source),
      after: {
        ...(adoptions.length > 0 && { adopted: keysOf(adoptions) }),
        ...(moved.keys.length > 0 && { changed: moved.keys }),
        ...(excluded.length > 0 && { excluded }),
        ...(included.length > 0 && { included }),
        roomIds: Object.fromEntries(
          decisions.flatMap(({ key, roomId }) => (roomId === undefined ? [] : [[key, roomId]])),
        ),
      },
      affected: moved.affected,
    }
  })

const keysOf = (adoptions: readonly Adoption[]) => adoptions.map(({ key }) => key)

const isAdopted = (key: string) =>
  new Failure('FAILED_PRECONDITION', `device ${key} is adopted. Remove it with gatewayDevicesDelete.`)
const isNotAdopted = (key: string) =>
  new Failure('FAILED_PRECONDITION', `device ${key} is not adopted. Send the state ADOPTED with its room.`)

function refuseAdoption(row: SourceDeviceRow, roomId: number | undefined, index: number): void {
  if (roomId === undefined) throw invalid([{ field: `devices[${index}].roomId`, error: 'is required for ADOPTED' }])
  const { refusedBecause }: FoundDevice = JSON.parse(row.report)
  if (refusedBecause === undefined) return
  throw new Failure('FAILED_PRECONDITION', `device ${row.key} cannot be adopted. ${refusedBecause}`)
}

async function requireRooms(tx: Tx, decisions: readonly Decision[]): Promise<void> {
  for (const id of new Set(decisions.flatMap(({ roomId }) => roomId ?? []))) {
    if (await findRoom(tx, { id })) continue
    throw new Failure('FAILED_PRECONDITION', `there is no room ${id}. Create it first, or name another.`)
  }
}

export interface Adoption {
  readonly key: string
  readonly roomId: number
  readonly name: string | null
}

/** Each device becomes an item of the gateway, which then enrols it. */
export async function adoptDevices(
  tx: Tx,
  source: Pick<SourceRow, 'id' | 'gateway_id' | 'type' | 'url'>,
  adoptions: readonly Adoption[],
  now: number,
): Promise<void> {
  if (adoptions.length === 0) return
  if ((await freeItems(tx, source.gateway_id)) < adoptions.length) {
    throw new Failure(
      'FAILED_PRECONDITION',
      `a gateway has at most ${maxGatewayDevices} devices, with those that were adopted. Start another gateway for more.`,
    )
  }
  for (const { key, roomId, name } of adoptions) {
    const item: GatewayItemRow = {
      id: randomUUID(),
      gateway_id: source.gateway_id,
      revision: 1,
      target_revision: 1,
      driver: source.type,
      ...hostOf(source.url),
      username: null,
      secrets: null,
      options: '{}',
      fingerprint: null,
      room_id: roomId,
      name,
      endpoint_id: null,
      duplicate_of: null,
      state: 'NEW',
      reason: null,
      since: now,
      reached_at: null,
      created_at: now,
      source_id: source.id,
      source_key: key,
    }
    await insertItem(tx, item)
  }
}

/** How many more items the gateway can have. */
export const freeItems = async (on: OrgReader, gateway: string): Promise<number> =>
  maxGatewayDevices - (await listAllItems(on, { gateway })).length

/** Moves and renames devices that are adopted already. */
async function moveAdopted(
  tx: Tx,
  ctx: RequestContext,
  source: Pick<SourceRow, 'gateway_id'>,
  moves: readonly { readonly item: string; readonly decision: Decision }[],
) {
  const keys: string[] = []
  const changed: string[] = []
  const affected: ReturnType<typeof endpointRef>[] = []
  for (const { item, decision } of moves) {
    const before = await requireItem(tx, source.gateway_id, item)
    const { key, roomId = before.room_id, name = before.name } = decision
    if (roomId === before.room_id && name === before.name) continue
    if (before.known_endpoint_id !== null && roomId !== null && roomId !== before.room_id) {
      const moved = await moveEndpoints(tx, ctx, { endpointIds: [before.known_endpoint_id], roomId })
      changed.push(...moved.result.changed)
      affected.push(...(moved.affected ?? []))
    }
    await updateItem(tx, { ...before, revision: before.revision + 1, room_id: roomId, name })
    keys.push(key)
  }
  return { keys, changed, affected }
}

// The rules of endpoints, one function for each operation. [contract 4.endpointsBasicList] [contract 5.1]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PagedList, TextChunks, VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import { listedIds } from '../../context/listed-ids.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, findReferenced, mustFind, mustFindAll } from '../../core/failure.ts'
import { isUuid } from '../../core/uuid.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef, type ChangeResult } from '../../journal/audit/change-result.ts'
import { areMessagesWanted, endpointDraft, queueMessages } from '../../journal/outbox/outbox.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { cancelOpenCommands } from '../commands/store.ts'
import { commandEventDraft, commandView } from '../commands/view.ts'
import { makeVersions, type VersionOrigin } from '../configs/make-versions.ts'
import { insertUnenrolledSpan } from '../connections/store.ts'
import { customFieldFilter, customFieldsOf } from '../custom-fields.ts'
import { refuseTakenExternalId } from '../external-ids.ts'
import { removeItemsOfEndpoints } from '../gateways/removal.ts'
import { listAllItems, listGatewayItems } from '../gateways/store.ts'
import { findProfile } from '../profiles/store.ts'
import { findRoom } from '../rooms/store.ts'
import { requireProfileAllowed, takesProfile } from './device-actions.ts'
import type { EndpointCache } from './endpoint-cache.ts'
import { queueFinishedCommands } from './endpoint-messages.ts'
import {
  auditedEndpoint,
  auditedGivenValues,
  basicEndpointView,
  endpointCsvView,
  endpointRef,
  endpointView,
  givenValues,
  valuesByEndpoint,
} from './fields.ts'
import { requireVisibleGroups } from './pair-groups.ts'
import { withSeenGateways } from './seen-gateways.ts'
import {
  deleteEndpoint,
  type EndpointSummary,
  findEndpoint,
  findShownEndpoint,
  listEndpointIdsPage,
  listEndpointsById,
  listEndpointsOfIds,
  listEndpointsVia,
  type PairedEndpoint,
  releaseEndpoints,
  updateGivenValues,
  updateProfileOf,
  updateRoomOf,
  type WholeListedEndpoint,
} from './store.ts'

type Filter = InputOf<'endpointsBasicList'>['query']

export function endpointsBasicList(ctx: RequestContext, cache: EndpointCache, filter: Filter) {
  const ids = listedIds(filter.ids, uuidOf)
  if (ids || filter.via !== undefined) return listNamed(ctx, filter, ids, basicEndpointView)
  return isCached(ctx, filter) ? cache.list(ctx.org.key) : listFiltered(ctx, filter)
}

/** The cache has the whole list. */
const isCached = ({ access }: RequestContext, { regionId, locationId, field }: Filter): boolean =>
  access.isEverything && regionId === undefined && locationId === undefined && field === undefined

const uuidOf = (text: string) => (isUuid(text) ? text.toLowerCase() : undefined)

/** Few endpoints are read from the database, in the state that they have now. */
async function listNamed<T>(
  ctx: RequestContext,
  filter: Filter,
  ids: readonly string[] | undefined,
  viewOf: (row: WholeListedEndpoint) => T,
) {
  const { via } = filter
  // A gateway that the caller does not see has no devices here: otherwise the filter would tell which they are.
  const isSeen = via === undefined || (await listEndpointsById(ctx.db, { ids: [via] })).length > 0
  if (!isSeen) return { endpoints: [] }
  const rows = ids
    ? await listEndpointsOfIds(ctx.db, { ...ctx.presenceTimes, ids })
    : await listEndpointsVia(ctx.db, { ...ctx.presenceTimes, via: via ?? '' })
  return { endpoints: (await withSeenGateways(ctx.db, rows.filter(isWanted(filter)))).map(viewOf) }
}

function isWanted({ regionId, locationId, via, field }: Filter) {
  const hasFields = customFieldFilter(field)
  return (row: WholeListedEndpoint): boolean =>
    (via === undefined || row.via === via) &&
    (regionId === undefined || row.region_id === regionId) &&
    (locationId === undefined || row.location_id === locationId) &&
    hasFields(row)
}

/** Rows in a page. With a filter, each page looks at all endpoints of a region or location. */
const rowsPerPage = 250
/** Rows of a page that are made and written in one turn. Each takes about a tenth of a millisecond. */
const rowsPerTurn = 50

/** The list as CSV: with all fields of each endpoint, which the cache of the list does not have. */
export function endpointsInPages(ctx: RequestContext, filter: Filter) {
  const ids = listedIds(filter.ids, uuidOf)
  if (ids || filter.via !== undefined) return listNamed(ctx, filter, ids, endpointCsvView)
  return new PagedList(
    () => readPages(ctx, filter, endpointCsvView),
    () => readPages(ctx, filter, (row) => ({ fields: customFieldsOf(row) })),
  )
}

/** A list that is not cached would take one long turn of the event loop if all of it were read together. */
async function* readPages<T>(ctx: RequestContext, filter: Filter, viewOf: (row: WholeListedEndpoint) => T) {
  const { regionId, locationId } = filter
  for (let after = ''; ; ) {
    const ids = (await listEndpointIdsPage(ctx.db, { after, limit: rowsPerPage }, regionId, locationId)).map(
      ({ id }) => id,
    )
    const last = ids.at(-1)
    if (last === undefined) return
    await nextTurn()
    const rows = await listEndpointsOfIds(ctx.db, { ...ctx.presenceTimes, ids })
    // Some may have moved since their ids were read.
    const seen = await withSeenGateways(ctx.db, rows.filter(isWanted(filter)))
    for (let at = 0; at < seen.length; at += rowsPerTurn) {
      await nextTurn()
      yield { endpoints: seen.slice(at, at + rowsPerTurn).map(viewOf) }
    }
    after = last
  }
}

async function listFiltered(ctx: RequestContext, filter: Filter) {
  const pages = readPages(ctx, filter, basicEndpointView)
  const first = await pages.next()
  if (first.done) return { endpoints: [] }
  const second = await pages.next()
  if (second.done) return first.value
  const answer = new TextChunks()
  const add = (start: string, page: typeof first.value) =>
    answer.add(start + JSON.stringify(page.endpoints).slice(1, -1))
  add('{"endpoints":[', first.value)
  add(',', second.value)
  for await (const page of pages) add(',', page)
  answer.add(']}')
  return answer.end()
}

export function endpointsGet(ctx: RequestContext, cache: EndpointCache, id: string) {
  const answer = ctx.access.isEverything ? cache.find(ctx.org.key, id) : cache.findVisible(ctx.db, id)
  return answer instanceof Promise ? answer.then((found) => mustFind(found, `endpoint ${id}`)) : answer
}

export const endpointsUpdate = (ctx: RequestContext, id: string, body: InputOf<'endpointsUpdate'>['body']) =>
  change(ctx, 'endpointsUpdate', async (tx) => {
    const endpoint = await requireEndpoint(tx, id)
    checkIfMatch(ctx, endpoint.version)
    const values = givenValues(body, endpoint)
    const wanted = { id, externalId: values.external_id }
    await refuseTakenExternalId(tx, 'endpoint', wanted, (known) => findEndpoint(tx, { id: known }))
    await updateGivenValues(tx, { id, ...values })
    await raiseResourceVersions(tx, { endpointsOfRoom: [endpoint.room_id] })
    const row = mustFind(await findShownEndpoint(tx, { ...ctx.presenceTimes, id }), `endpoint ${id}`)
    const [shown = row] = await withSeenGateways(tx, [row])
    return {
      result: new VersionedAnswer(shown.version, endpointView(shown, shown.room_name)),
      target: endpointRef(shown),
      ...auditedGivenValues.change(endpoint, { ...endpoint, ...values }),
    }
  })

export async function endpointsDelete(ctx: RequestContext, id: string, withItems = false) {
  const { released, gateways } = await change(ctx, 'endpointsDelete', async (tx) => {
    const endpoint = await requireEndpoint(tx, id)
    checkIfMatch(ctx, endpoint.version)
    const items = await itemsToDelete(tx, id, withItems)
    const released = items.flatMap((item) => item.endpoint_id ?? [])
    await releaseEndpoints(tx, released)
    await unenrolEndpoint(tx, ctx, id)
    const gateways = await removeItemsOfEndpoints(tx, [id], ctx.clock.now())
    return {
      result: { released, gateways },
      target: endpointRef(endpoint),
      before: {
        ...auditedGivenValues.all(endpoint),
        ...auditedEndpoint.all(endpoint),
        ...(items.length > 0 && { items: items.length }),
      },
    }
  })
  ctx.devices.cut([id])
  ctx.devices.cut(released, 'released')
  ctx.devices.wake(gateways)
  return {}
}

/** The items of a gateway go with it, if the caller wants that and sees all of them. [contract 13.rooms] */
async function itemsToDelete(tx: Tx, gateway: string, isWanted: boolean) {
  const items = await listAllItems(tx, { gateway })
  if (items.length === 0) return items
  const devices = items.length === 1 ? '1 device' : `${items.length} devices`
  if (!isWanted) {
    throw new Failure(
      'FAILED_PRECONDITION',
      `this gateway manages ${devices}. Remove them first, or send items=true to remove them with it.`,
    )
  }
  if ((await listGatewayItems(tx, { gateway })).length < items.length) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'this gateway manages devices in rooms that you do not see. Ask an admin of all regions.',
    )
  }
  return items
}

/** Deletes an endpoint in the transaction of a change. Call `cut` after the commit. */
export async function unenrolEndpoint(tx: Tx, ctx: RequestContext, id: string) {
  const endpoint = await requireEndpoint(tx, id)
  await insertUnenrolledSpan(tx, { ...ctx.presenceTimes, id, at: ctx.clock.now() })
  const cancelled = await cancelOpenCommands(tx, { endpoints: [id], at: ctx.clock.now() })
  await queueFinishedCommands(tx, cancelled.map(commandView))
  await deleteEndpoint(tx, id, ctx.clock.now())
  tx.drafts.push(...cancelled.map((row) => commandEventDraft(commandView(row), roomIdsOf([endpoint]))))
  await raiseResourceVersions(tx, { endpointsOfRoom: [endpoint.room_id] })
  if (await areMessagesWanted(tx, ['endpoint.removed'])) {
    const room = endpoint.room_id === null ? undefined : await findRoom(tx, { id: endpoint.room_id })
    const place = {
      roomId: endpoint.room_id,
      locationId: room?.location_id ?? null,
      regionId: room?.region_id ?? null,
    }
    await queueMessages(tx, [endpointDraft('endpoint.removed', { ...endpoint, ...place }, ctx.clock.now())])
  }
  return endpoint
}

/** Moves the endpoints and everything that is paired with them, in one transaction. [contract 4.endpointsMoveRoom] */
export const endpointsMoveRoom = (ctx: RequestContext, body: InputOf<'endpointsMoveRoom'>['body']) =>
  change(ctx, 'endpointsMoveRoom', async (tx) => {
    const { result, ...entry } = await moveEndpoints(tx, ctx, body)
    return { ...entry, result: { endpointIds: result.moved }, afterCommit: () => ctx.devices.wake(result.changed) }
  })

/** The result says which endpoints moved, and which of them have a new config. */
export async function moveEndpoints(
  tx: Tx,
  ctx: RequestContext,
  body: InputOf<'endpointsMoveRoom'>['body'],
  origin: VersionOrigin = {},
): Promise<ChangeResult<{ moved: string[]; changed: string[] }>> {
  const { roomId, assignRoomProfile = false } = body
  const requestedIds = [...new Set(body.endpointIds)]
  mustFindAll('endpointIds', 'endpoint', requestedIds, await listEndpointsById(tx, { ids: requestedIds }))
  const room = await findRoom(tx, { id: roomId })
  if (!room) {
    throw new Failure('FAILED_PRECONDITION', `there is no room ${roomId}. Create it first, or name another.`)
  }

  const group = await requireVisibleGroups(tx, requestedIds)
  const ids = group.map((e) => e.id)
  await updateRoomOf(tx, ids, roomId, ctx.clock.now())
  await raiseResourceVersions(tx, { endpointsOfRoom: [...roomIdsOf(group), roomId] })
  const isReassigned = (e: PairedEndpoint) => e.profile_id !== room.profile_id && takesProfile(e)
  const reassigned = assignRoomProfile ? group.filter(isReassigned).map((e) => e.id) : []
  if (reassigned.length > 0) {
    await updateProfileOf(tx, { ids: reassigned, profile: room.profile_id })
    await makeVersions(tx, ctx, reassigned, origin)
  }
  return {
    result: { moved: ids, changed: reassigned },
    target: auditRef('room', room),
    before: {
      roomIds: valuesByEndpoint(group, (e) => e.room_id),
      ...(assignRoomProfile && { profileIds: valuesByEndpoint(group, (e) => e.profile_id) }),
    },
    after: { roomId, ...(assignRoomProfile && { profileId: room.profile_id }) },
    affected: group.map(endpointRef),
    jobId: origin.jobId,
  }
}

export async function endpointsAssignProfile(ctx: RequestContext, id: string, profileId: number | null) {
  await change(ctx, 'endpointsAssignProfile', (tx) => assignProfile(tx, ctx, id, profileId))
  ctx.devices.wake([id])
  return {}
}

export async function assignProfile(
  tx: Tx,
  ctx: RequestContext,
  id: string,
  profileId: number | null,
  origin: VersionOrigin = {},
): Promise<ChangeResult<object>> {
  const endpoint = await requireEndpoint(tx, id)
  checkIfMatch(ctx, endpoint.version)
  const profile = await findReferenced('profile', profileId, (known) => findProfile(tx, { id: known }))
  const to = profile?.id ?? null
  if (to !== null) requireProfileAllowed(endpoint)
  await updateProfileOf(tx, { ids: [id], profile: to })
  await raiseResourceVersions(tx, { endpointsOfRoom: [endpoint.room_id] })
  if (endpoint.profile_id !== to) await makeVersions(tx, ctx, [id], origin)
  return {
    result: {},
    target: endpointRef(endpoint),
    before: { profileId: endpoint.profile_id },
    after: { profileId: to },
    undone: profile === undefined,
    jobId: origin.jobId,
  }
}

const requireEndpoint = async (on: OrgReader, id: string) => mustFind(await findEndpoint(on, { id }), `endpoint ${id}`)

const roomIdsOf = (endpoints: readonly Pick<EndpointSummary, 'room_id'>[]): number[] => [
  ...new Set(endpoints.flatMap((e) => (e.room_id === null ? [] : [e.room_id]))),
]

// Carries out the operations on rooms, one function for each. [contract 6.rooms] [contract 5.4.room]

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Static } from 'typebox'
import { peopleIsOf, type Room, roomStateOf } from '../../../contract/fleet/rooms.ts'
import { freshSince } from '../../config/sensor-settings.ts'
import { TextChunks, VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import { listedIds } from '../../context/listed-ids.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { findReferenced, mustFind } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef, type ChangeResult } from '../../journal/audit/change-result.ts'
import { endpointDraft, queueMessages } from '../../journal/outbox/outbox.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { requireVisibleAfter } from '../../journal/places/visible-after.ts'
import { cancelOpenCommands } from '../commands/store.ts'
import { commandEventDraft, commandView } from '../commands/view.ts'
import { makeVersions, type VersionOrigin } from '../configs/make-versions.ts'
import { insertUnenrolledSpansInRoom } from '../connections/store.ts'
import { customFieldFilter } from '../custom-fields.ts'
import { takesProfile } from '../endpoints/device-actions.ts'
import { finishedCommandDraft } from '../endpoints/endpoint-messages.ts'
import { endpointRef, endpointView } from '../endpoints/fields.ts'
import { withSeenGateways } from '../endpoints/seen-gateways.ts'
import {
  deleteEndpointsInRoom,
  listEndpointsInRoom,
  listShownEndpointsInRoom,
  releaseEndpoints,
  updateProfileOf,
} from '../endpoints/store.ts'
import { refuseTakenExternalId } from '../external-ids.ts'
import { insertDeletedRoom } from '../former-places/store.ts'
import { removeItemsInRoom } from '../gateways/removal.ts'
import { listItemsOfGatewaysInRoom } from '../gateways/store.ts'
import { findLocation } from '../locations/store.ts'
import { listNotesOfRoom } from '../notes/store.ts'
import { findProfile } from '../profiles/store.ts'
import {
  enrolmentCodeContext,
  enrolmentCodeFields,
  enrolmentCodeMac,
  enrolmentCodeTimeoutHours,
  enrolmentUrl,
  makeEnrolmentCode,
} from './enrolment-code.ts'
import { auditedRoom, optionalRoomFields, type RoomValues, roomValues } from './fields.ts'
import {
  deleteRoom,
  findLastRoom,
  findNextRoom,
  findRoom,
  hasFailedConfig,
  indexDec,
  insertRoom,
  listRooms,
  listRoomsOfIds,
  type RoomRow,
  updateDec,
  updateRoom,
  updateRoomProfile,
} from './store.ts'

type RoomsQuery = InputOf<'roomsList'>['query']

/** The statement and the text of all rooms of a large organisation would take one long turn of the event loop. */
export async function roomsList(ctx: RequestContext, query: RoomsQuery) {
  const pages = readRoomsInPages(ctx, query)
  const first = await pages.next()
  if (first.done) return { rooms: [] }
  const second = await pages.next()
  if (second.done) return first.value
  const answer = new TextChunks()
  const add = (start: string, { rooms }: RoomsPage) => answer.add(start + JSON.stringify(rooms).slice(1, -1))
  add('{"rooms":[', first.value)
  add(',', second.value)
  for await (const page of pages) add(',', page)
  answer.add(']}')
  return answer.end()
}

/** Each page has some rooms. A page is read in a turn of the event loop. */
export async function* readRoomsInPages(ctx: RequestContext, query: RoomsQuery): AsyncGenerator<RoomsPage> {
  const { regionId, locationId, tag } = query
  const hasFields = customFieldFilter(query.field)
  const listed = (rows: readonly ListedRoom[]) =>
    rows.flatMap((row) => {
      const room = listedRoom(row)
      return hasFields(row) && (tag === undefined || room.tags?.includes(tag)) ? [room] : []
    })
  const values = { ...ctx.presenceTimes, freshSinceSeconds: freshSince(ctx) }
  const ids = listedIds(query.ids, (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined))
  if (ids) {
    const rooms = listed(await listRoomsOfIds(ctx.db, { ...values, ids, from: 0, to: 0 }, regionId, locationId))
    if (rooms.length > 0) yield { rooms }
    return
  }
  const last = (await findLastRoom(ctx.db))?.id ?? 0
  for (let from = 1; from <= last; ) {
    if (from > 1) await nextTurn()
    const range = { ids: [], from, to: from + idsPerPage - 1 }
    const rows = await listRooms(ctx.db, { ...values, ...range }, regionId, locationId)
    const rooms = listed(rows)
    if (rooms.length > 0) yield { rooms }
    from += idsPerPage
    // Rooms that were deleted leave gaps, which can be much larger than a page.
    if (rows.length === 0 && from <= last) from = (await findNextRoom(ctx.db, { from }))?.id ?? last + 1
  }
}

const idsPerPage = 500

interface RoomsPage {
  readonly rooms: ReturnType<typeof listedRoom>[]
}
type ListedRoom = Awaited<ReturnType<typeof listRooms>>[number]

function listedRoom(row: ListedRoom) {
  const endpointCount = Number(row.endpoints)
  const connectedCount = Number(row.connected)
  const unknownCount = Number(row.unknown)
  const peopleIs = peopleIsOf(row.people, row.counted_people)
  const asleepCount = Number(row.asleep)
  const counts = { endpointCount, connectedCount, unknownCount, asleepCount }
  return {
    id: row.id,
    name: row.name,
    ...(row.location_id !== null && { location: { id: row.location_id, name: row.location_name ?? '' } }),
    state: roomStateOf({ ...counts, hasFailedConfig: Number(row.failed) > 0 }),
    endpointCount,
    connectedCount,
    ...(unknownCount > 0 && { unknownCount }),
    ...(asleepCount > 0 && { asleepCount }),
    ...(row.people !== null && { people: row.people }),
    ...(peopleIs && { peopleIs }),
    ...(row.profile_id !== null && { profileId: row.profile_id }),
    ...optionalRoomFields(row),
  }
}

export const roomsGet = async (ctx: RequestContext, id: number) => view(ctx, ctx.db, await requireRoom(ctx.db, id))

export const roomsCreate = (ctx: RequestContext, body: InputOf<'roomsCreate'>['body']) =>
  change(ctx, 'roomsCreate', async (tx) => {
    const location = await findReferencedLocation(tx, body.locationId)
    requireVisibleAfter(tx, location?.region_id, ...withoutLocation)
    const profile = await findReferencedProfile(tx, body.profileId)
    const id = await nextId(tx, 'room')
    const code = makeSealedCode(ctx, id)
    const values = { ...roomValues(body, location?.id ?? null), profile_id: profile?.id ?? null }
    await refuseTakenId(tx, id, values)
    await insertRoom(tx, { id, ...values, dec_sealed: code.sealed, dec_timeout: enrolmentCodeTimeoutHours })
    await indexDec(tx, id, code.mac)
    return {
      result: await view(ctx, tx, await requireRoom(tx, id)),
      target: auditRef('room', { id, name: body.name }),
      after: auditedRoom.all(values),
    }
  })

export const roomsUpdate = (ctx: RequestContext, id: number, body: InputOf<'roomsUpdate'>['body']) =>
  change(ctx, 'roomsUpdate', async (tx) => {
    const room = await requireRoom(tx, id)
    checkIfMatch(ctx, room.version)
    const location = await findReferencedLocation(tx, body.locationId)
    requireVisibleAfter(tx, location?.region_id, ...withoutLocation)
    const values = { ...room, ...roomValues(body, location?.id ?? null, room) }
    await refuseTakenId(tx, id, values)
    await updateRoom(tx, values)
    await raiseResourceVersions(tx, { nameOfRoom: [id] })
    return {
      result: await view(ctx, tx, await requireRoom(tx, id)),
      target: auditRef('room', { id, name: body.name }),
      ...auditedRoom.change(room, values),
    }
  })

export async function roomsDelete(ctx: RequestContext, id: number) {
  const { unenrolled, released, gateways } = await change(ctx, 'roomsDelete', async (tx) => {
    const room = await requireRoom(tx, id)
    checkIfMatch(ctx, room.version)
    const notes = await listNotesOfRoom(tx, { room: id })
    await insertUnenrolledSpansInRoom(tx, { ...ctx.presenceTimes, room: id, at: ctx.clock.now() })
    const items = await listItemsOfGatewaysInRoom(tx, { room: id })
    const released = items.flatMap((item) => item.endpoint_id ?? [])
    const endpoints = await deleteEndpointsInRoom(tx, id, ctx.clock.now())
    await releaseEndpoints(tx, released)
    const gateways = await removeItemsInRoom(tx, id, ctx.clock.now())
    const endpointIds = endpoints.map((e) => e.id)
    const cancelled = await cancelOpenCommands(tx, { endpoints: endpointIds, at: ctx.clock.now() })
    const place = { roomId: id, locationId: room.location_id, regionId: room.region_id }
    const removed = new Map(endpoints.map((endpoint) => [endpoint.id, { ...endpoint, ...place }]))
    await queueMessages(tx, [
      ...cancelled.flatMap((row) => {
        const endpoint = removed.get(row.endpoint_id)
        return endpoint ? [finishedCommandDraft(commandView(row), endpoint)] : []
      }),
      ...[...removed.values()].map((e) => endpointDraft('endpoint.removed', e, ctx.clock.now())),
    ])
    tx.drafts.push(...cancelled.map((row) => commandEventDraft(commandView(row), [id])))
    await insertDeletedRoom(tx, { id, at: ctx.clock.now() })
    await deleteRoom(tx, { id })
    return {
      result: { unenrolled: endpointIds, released, gateways },
      target: auditRef('room', room),
      before: auditedRoom.all(room),
      affected: [
        ...endpoints.map(endpointRef),
        ...notes.map((n) => auditRef('roomNote', { id: n.id, name: firstCharacters(n.note) })),
      ],
    }
  })
  ctx.devices.cut(unenrolled)
  ctx.devices.cut(released, 'released')
  ctx.devices.wake(gateways)
  return {}
}

export const roomsRegenerateDec = (ctx: RequestContext, id: number) =>
  change(ctx, 'roomsRegenerateDec', async (tx) => {
    const room = await requireRoom(tx, id)
    checkIfMatch(ctx, room.version)
    const code = makeSealedCode(ctx, id)
    await updateDec(tx, { id, sealed: code.sealed })
    await indexDec(tx, id, code.mac)
    return { result: { dec: code.text }, target: auditRef('room', room) }
  })

/** Assigns the profile to the endpoints of the room too. Those that had another get a new config version. [contract 5.4.profile] */
export async function roomsAssignProfile(ctx: RequestContext, id: number, profileId: number | null) {
  const changed = await change(ctx, 'roomsAssignProfile', (tx) => assignRoomProfile(tx, ctx, id, profileId))
  ctx.devices.wake(changed)
  return {}
}

/** Sets the profile of a room and of its endpoints. The result has the endpoints with a new config. */
export async function assignRoomProfile(
  tx: Tx,
  ctx: RequestContext,
  id: number,
  profileId: number | null,
  origin: VersionOrigin = {},
): Promise<ChangeResult<string[]>> {
  const room = await requireRoom(tx, id)
  checkIfMatch(ctx, room.version)
  const newProfileId = (await findReferencedProfile(tx, profileId))?.id ?? null
  await updateRoomProfile(tx, { id, profile: newProfileId })
  const endpoints = (await listEndpointsInRoom(tx, { room: id })).filter(takesProfile)
  await updateProfileOf(tx, { ids: endpoints.map((e) => e.id), profile: newProfileId })
  const changedIds = endpoints.filter((e) => e.profile_id !== newProfileId).map((e) => e.id)
  await makeVersions(tx, ctx, changedIds, origin)
  return {
    result: changedIds,
    target: auditRef('room', room),
    before: { profileId: room.profile_id },
    after: { profileId: newProfileId },
    affected: endpoints.map(endpointRef),
    undone: newProfileId === null,
    jobId: origin.jobId,
  }
}

const withoutLocation = ['a room without a location', 'Send the locationId of a location that you see.'] as const

const requireRoom = async (on: OrgReader, id: number) => mustFind(await findRoom(on, { id }), `room ${id}`)

const findReferencedLocation = (tx: Tx, id: number | null | undefined) =>
  findReferenced('location', id, (known) => findLocation(tx, { id: known }))

const findReferencedProfile = (tx: Tx, id: number | null | undefined) =>
  findReferenced('profile', id, (known) => findProfile(tx, { id: known }))

const refuseTakenId = (tx: Tx, id: number, { external_id }: RoomValues) =>
  refuseTakenExternalId(tx, 'room', { id, externalId: external_id }, (known) => findRoom(tx, { id: known }))

function makeSealedCode(ctx: RequestContext, room: number) {
  const text = makeEnrolmentCode()
  const { secrets } = ctx
  return {
    text,
    sealed: secrets.seal(text, enrolmentCodeContext(ctx.org.id, room)),
    mac: enrolmentCodeMac(secrets, text),
  }
}

/** Returns the first 60 code points. Counting code points never splits a surrogate pair. */
const firstCharacters = (text: string) => [...text.slice(0, 120)].slice(0, 60).join('')

async function view(ctx: RequestContext, on: OrgReader, room: RoomRow): Promise<VersionedAnswer<Static<typeof Room>>> {
  const endpoints = await withSeenGateways(
    on,
    await listShownEndpointsInRoom(on, { ...ctx.presenceTimes, room: room.id }),
  )
  const counts = {
    endpointCount: endpoints.length,
    connectedCount: endpoints.filter(({ state }) => state === 'ONLINE').length,
    unknownCount: endpoints.filter(({ state }) => state === 'UNKNOWN').length,
    asleepCount: endpoints.filter(({ state }) => state === 'ASLEEP').length,
    hasFailedConfig: await hasFailedConfig(on, { id: room.id }),
  }
  const { secrets, clock, publicUrl } = ctx
  const code = ctx.may('operate')
    ? enrolmentCodeFields(secrets, enrolmentCodeContext(ctx.org.id, room.id), room, clock.now())
    : undefined
  return new VersionedAnswer(room.version, {
    id: room.id,
    name: room.name,
    state: roomStateOf(counts),
    ...(room.location_id !== null && {
      location: {
        id: room.location_id,
        name: room.location_name ?? '',
        ...(room.region_id !== null && { region: { id: room.region_id, name: room.region_name ?? '' } }),
      },
    }),
    ...(room.profile_id !== null && { profileId: room.profile_id }),
    ...optionalRoomFields(room),
    ...code,
    ...(code?.dec !== undefined && { enrolmentUrl: enrolmentUrl(publicUrl, code.dec) }),
    endpoints: endpoints.map((e) => endpointView(e, room.name)),
  })
}

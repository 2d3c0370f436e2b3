// Assigns the profile of an ASSIGN_PROFILE job to the endpoints of a unit, and to rooms whose endpoints are all targeted. [contract 12.job]

import type { OrgReader, Tx } from '../../../db/handles.ts'
import { makeVersions } from '../../../fleet/configs/make-versions.ts'
import { deleteRejections, findConfig } from '../../../fleet/configs/store.ts'
import { takesProfile } from '../../../fleet/endpoints/device-actions.ts'
import { assignProfile } from '../../../fleet/endpoints/rules.ts'
import { findEndpoint, listEndpointsInRoom } from '../../../fleet/endpoints/store.ts'
import { assignRoomProfile } from '../../../fleet/rooms/rules.ts'
import { findRoom } from '../../../fleet/rooms/store.ts'
import { actionOfJob } from '../../rows.ts'
import { noteRoomProfile } from '../progress-store.ts'
import { type EffectInput, OutdatedStep, type SentEffect, sendEffect } from './effect.ts'

export async function sendProfile(input: EffectInput): Promise<void> {
  const { ctx, job, endpoints } = input
  const profileId = actionOfJob(job).profileId ?? null
  const byRoom = Map.groupBy(endpoints, ({ room_id }) => room_id)
  for (const [roomId, inRoom] of byRoom) {
    const ids = inRoom.map(({ endpoint_id }) => endpoint_id)
    if (roomId !== null && (await isWholeRoom(ctx.db, roomId, ids))) {
      await sendToRoom(input, roomId, ids, profileId)
    } else {
      for (const id of ids) await sendToOne(input, id, profileId)
    }
    ctx.devices.wake(ids)
  }
}

/** Devices that take no profile do not count. */
async function isWholeRoom(on: OrgReader, room: number, ids: readonly string[]): Promise<boolean> {
  const present = (await listEndpointsInRoom(on, { room })).filter(takesProfile)
  return present.length > 0 && present.every(({ id }) => ids.includes(id))
}

async function sendToRoom(input: EffectInput, room: number, ids: readonly string[], profileId: number | null) {
  const { ctx, job, unit } = input
  await sendEffect(input, 'roomsAssignProfile', async (tx) => {
    // An endpoint that came into the room since then would get the profile, and a rollback would not know of it.
    if (!(await isWholeRoom(tx, room, ids))) throw new OutdatedStep()
    const before = await listBefore(tx, ids)
    const roomBefore = (await findRoom(tx, { id: room }))?.profile_id ?? null
    const changed = await assignRoomProfile(tx, ctx, room, profileId, { jobId: job.id })
    if (roomBefore !== profileId) await noteRoomProfile(tx, { job: job.id, unit, room, before: roomBefore })
    const remade = await remakeRejectedVersions(tx, input, before, profileId)
    return { changed, sent: await listSentEffects(tx, before, remade, profileId) }
  })
}

async function sendToOne(input: EffectInput, id: string, profileId: number | null) {
  const { ctx, job } = input
  await sendEffect(input, 'endpointsAssignProfile', async (tx) => {
    const before = await listBefore(tx, [id])
    const changed = await assignProfile(tx, ctx, id, profileId, { jobId: job.id })
    const remade = await remakeRejectedVersions(tx, input, before, profileId)
    return { changed, sent: await listSentEffects(tx, before, remade, profileId) }
  })
}

interface Before {
  readonly id: string
  readonly version: number
  readonly state: string | undefined
  readonly profileId: number | null
}

const listBefore = (tx: Tx, ids: readonly string[]): Promise<Before[]> =>
  Promise.all(
    ids.map(async (id) => {
      const config = await findConfig(tx, { id })
      const profileId = (await findEndpoint(tx, { id }))?.profile_id ?? null
      return { id, version: config?.version ?? 0, state: config?.state, profileId }
    }),
  )

/**
 * Makes a new version for endpoints that have the profile already and rejected the version of an earlier attempt: a person has asked for
 * another attempt. Returns the ids of these endpoints.
 */
async function remakeRejectedVersions(
  tx: Tx,
  { ctx, job, endpoints }: EffectInput,
  before: readonly Before[],
  profileId: number | null,
): Promise<readonly string[]> {
  const wasSent = (id: string) =>
    endpoints.some((endpoint) => endpoint.endpoint_id === id && endpoint.version_after !== null)
  const rejecting = before.filter(({ id, state }) => wasSent(id) && state === 'FAILED')
  await deleteRejections(tx, { ids: rejecting.map(({ id }) => id) })
  const rejected = rejecting.filter((one) => one.profileId === profileId).map(({ id }) => id)
  await makeVersions(tx, ctx, rejected, { jobId: job.id })
  return rejected
}

/** An endpoint that has the profile already, and got no new version, is done. */
const listSentEffects = (
  tx: Tx,
  before: readonly Before[],
  remade: readonly string[],
  profileId: number | null,
): Promise<SentEffect[]> =>
  Promise.all(
    before.map(async ({ id, version, profileId: profileBefore }) => {
      const isUnchanged = profileBefore === profileId
      if (isUnchanged && !remade.includes(id)) return { id }
      const versionAfter = (await findConfig(tx, { id }))?.version ?? version
      const sent = { id, versionBefore: version, versionAfter }
      return isUnchanged ? sent : { ...sent, profileBefore, isProfileChanged: true }
    }),
  )

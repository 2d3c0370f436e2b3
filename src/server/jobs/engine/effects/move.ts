// Moves the endpoints of a unit to the room of a MOVE job, in one commit. [contract 12.job]
import type { Tx } from '../../../db/handles.ts'
import { moveEndpoints } from '../../../fleet/endpoints/rules.ts'
import { listPairedEndpoints } from '../../../fleet/endpoints/store.ts'
import { actionOfJob } from '../../rows.ts'
import { listMoves, upsertMoves } from '../rollback/move-store.ts'
import { type EffectInput, sendEffect } from './effect.ts'

export async function sendMove(input: EffectInput): Promise<void> {
  const { ctx, job, endpoints } = input
  const { roomId = 0, assignRoomProfile = false } = actionOfJob(job)
  const ids = endpoints.map(({ endpoint_id }) => endpoint_id)
  const { changed } = await sendEffect(input, 'endpointsMoveRoom', async (tx) => {
    await noteMoves(tx, input, ids, roomId)
    return {
      changed: await moveEndpoints(tx, ctx, { endpointIds: ids, roomId, assignRoomProfile }, { jobId: job.id }),
      sent: ids.map((id) => ({ id })),
    }
  })
  ctx.devices.wake(changed)
}

/** Stores the present rooms of the endpoints and of everything that is paired with them. A second attempt does not change that, unless a person has moved them since. */
async function noteMoves(tx: Tx, { job, unit }: EffectInput, ids: readonly string[], roomId: number): Promise<void> {
  const known = new Set((await listMoves(tx, { job: job.id, unit })).map(({ endpoint_id }) => endpoint_id))
  const group = await listPairedEndpoints(tx, { ids })
  const moves = group.filter(({ id, room_id }) => room_id !== roomId || !known.has(id))
  await upsertMoves(
    tx,
    moves.map(({ id, room_id }) => ({
      job_id: job.id,
      unit,
      endpoint_id: id,
      room_before: room_id,
      room_after: roomId,
    })),
  )
}

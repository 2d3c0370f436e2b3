// Moves the endpoints of a unit to the room of a MOVE job, in one commit. [contract 12.job]
import { moveEndpoints } from '../../../endpoints/rules.ts'
import { actionOfJob } from '../../rows.ts'
import { type EffectInput, sendEffect } from './effect.ts'

export async function sendMove(input: EffectInput): Promise<void> {
  const { ctx, job, endpoints } = input
  const { roomId = 0, assignRoomProfile = false } = actionOfJob(job)
  const ids = endpoints.map(({ endpoint_id }) => endpoint_id)
  const { changed } = await sendEffect(input, 'endpointsMoveRoom', async (tx) => ({
    changed: await moveEndpoints(tx, ctx, { endpointIds: ids, roomId, assignRoomProfile }, { jobId: job.id }),
    sent: ids.map((id) => ({ id })),
  }))
  ctx.devices.wake(changed)
}

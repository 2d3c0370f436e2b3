// Sends past days as a device would that was offline: in late batches, a sample every five minutes.
import { once } from 'node:events'
import { sampleOf } from './day.ts'
import type { SimulatedDevice } from './device.ts'

/** As many as a message may hold. */
const batch = 500
const step = 300

/** From `from` up to `until`, in Unix seconds. Resolves when every sample is safe. */
export async function sendHistory(
  device: SimulatedDevice,
  { from, until }: { from: number; until: number },
  signal: AbortSignal,
): Promise<number> {
  let sent = 0
  for (let at = Math.ceil(from / step) * step; at < until; at += batch * step) {
    const samples = []
    for (let time = at; time < until && samples.length < batch; time += step) {
      samples.push(sampleOf(device.plan, time * 1000, time))
    }
    await untilSent(device, samples, signal)
    sent += samples.length
  }
  return sent
}

/** A batch that was under way when the wire was cut goes again with the next connection. */
async function untilSent(
  { agent }: SimulatedDevice,
  samples: Parameters<NonNullable<typeof agent>['sample']>[0],
  signal: AbortSignal,
): Promise<void> {
  while (agent) {
    signal.throwIfAborted()
    if (!agent.isConnected) await once(agent, 'connected', { signal })
    try {
      return await agent.sample(samples)
    } catch {
      // cut meanwhile
    }
  }
}

// Sends samples of past days in batches, as a device does that was offline: one sample every five minutes.
import { addAbortListener, once } from 'node:events'
import { maxSamplesPerMessage } from '../contract/device/protocol.ts'
import { sensorsOfDevice } from './products.ts'
import { makeSample } from './room-day.ts'
import type { SimulatedDevice } from './simulated-device.ts'

const stepSeconds = 300

/** Sends samples from `from` to before `until`, in Unix seconds. Resolves with their number when all are stored. */
export async function sendPastSamples(
  device: SimulatedDevice,
  { from, until }: { from: number; until: number },
  signal: AbortSignal,
): Promise<number> {
  if (sensorsOfDevice(device.plan).length === 0) return 0
  let sent = 0
  for (let at = Math.ceil(from / stepSeconds) * stepSeconds; at < until; at += maxSamplesPerMessage * stepSeconds) {
    const samples = []
    for (let time = at; time < until && samples.length < maxSamplesPerMessage; time += stepSeconds) {
      samples.push(makeSample(device.plan, time * 1000, time))
    }
    await sendUntilStored(device, samples, signal)
    sent += samples.length
  }
  return sent
}

/** Sends a batch again if the device rebooted before it was confirmed. */
async function sendUntilStored(
  { agent }: SimulatedDevice,
  samples: Parameters<NonNullable<typeof agent>['sample']>[0],
  signal: AbortSignal,
): Promise<void> {
  if (!agent) return
  // A stopped agent rejects what it has not sent; the fleet stops all of them at its end.
  using _ = addAbortListener(signal, () => void agent.stop())
  for (;;) {
    signal.throwIfAborted()
    if (!agent.isConnected) await once(agent, 'connected', { signal })
    try {
      return await agent.sample(samples)
    } catch {
      // The agent was stopped; the loop waits for its next start.
    }
  }
}

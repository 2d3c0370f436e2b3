// Sends a message to one device after the other, and measures the time until each device has it.
import type { LoadResult } from './load-result.ts'
import type { ListeningDevice, MqttFleet } from './mqtt-fleet.ts'

/** Each message is done when the device has it and the sender has its answer. */
export async function deliverOneByOne(
  fleet: MqttFleet,
  devices: readonly ListeningDevice[],
  sendTo: (device: ListeningDevice) => Promise<unknown>,
  onDelivery: (device: ListeningDevice, payload: string) => void = () => {},
): Promise<LoadResult> {
  const latenciesMs: number[] = []
  const startedAt = performance.now()
  for (const device of devices) {
    const sentAt = performance.now()
    const delivery = new Promise<void>((resolve, reject) => {
      fleet.onMessage = (receiver, bytes) => {
        latenciesMs.push(performance.now() - sentAt)
        const payload = bytes.toString()
        onDelivery(receiver, payload)
        if (receiver === device && payload.includes('REBOOT')) resolve()
        else reject(new Error(`An unexpected message arrived: ${payload}`))
      }
    })
    await Promise.all([delivery, sendTo(device)])
  }
  return { latenciesMs: Float64Array.from(latenciesMs), seconds: (performance.now() - startedAt) / 1000 }
}

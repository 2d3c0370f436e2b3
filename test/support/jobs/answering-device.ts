// A device that takes every config and carries out every command at once, also after it has connected again.
import { downTopic } from '../../../src/contract/device/protocol.ts'
import type { TestDevice } from '../devices/test-device.ts'

/** Resolves when the device is connected. An answer that the service does not get is not repeated: the service sends the message again. */
export async function connectAnswering(device: TestDevice): Promise<void> {
  await device.connect({ subscribe: false })
  device.client.on('message', (topic, payload) => {
    const body = JSON.parse(payload.toString())
    const isConfig = topic.endsWith('/config')
    const answered = isConfig
      ? device.publish('config', { version: body.version, config: body.config })
      : device.publish('operation', { id: body.id, state: 'SUCCEEDED' })
    answered.catch(() => {})
  })
  await device.client.subscribeAsync(downTopic(device.id, '#'), { qos: 1 })
}

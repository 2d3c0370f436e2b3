// A device that takes configs and carries out commands when they come, also after it has connected again.
import { setTimeout as pause } from 'node:timers/promises'
import { downTopic } from '../../../src/contract/device/protocol.ts'
import type { TestDevice } from '../devices/test-device.ts'
import type { Reply } from '../harness.ts'

interface AnswerOptions {
  /** The keys of a config that it rejects. */
  readonly rejects?: readonly string[]
}

/** A device stores the ids of its restarts, so that it carries out none twice. */
const restarts = new WeakMap<TestDevice, string[]>()

/** The ids of the reboots that a device has carried out. */
export function executedRestarts(device: TestDevice): string[] {
  const ids = restarts.get(device) ?? []
  restarts.set(device, ids)
  return ids
}

/** Resolves when the device is connected. An answer that the service does not get is not repeated: the service sends the message again. */
export async function connectAnswering(device: TestDevice, options: AnswerOptions = {}): Promise<void> {
  await device.connect({ subscribe: false })
  device.client.on('message', (topic, payload) => {
    const body = JSON.parse(payload.toString())
    const answered = topic.endsWith('/config') ? takeConfig(device, body, options) : carryOut(device, body, options)
    answered.catch(() => {})
  })
  await device.client.subscribeAsync(downTopic(device.id, '#'), { qos: 1 })
  const last = executedRestarts(device).at(-1)
  // The service ignores this if it knows it already.
  if (last !== undefined) await device.publish('operation', { id: last, state: 'SUCCEEDED' })
}

function takeConfig(device: TestDevice, { version, config }: Reply['body'], { rejects = [] }: AnswerOptions) {
  const rejected = Object.keys(config).filter((key) => rejects.includes(key))
  const taken = Object.fromEntries(Object.entries(config).filter(([key]) => !rejected.includes(key)))
  const reasons = Object.fromEntries(rejected.map((key) => [key, 'not supported']))
  return device.publish('config', { version, config: taken, ...(rejected.length > 0 && { rejected: reasons }) })
}

async function carryOut(device: TestDevice, { id, type }: Reply['body'], options: AnswerOptions): Promise<void> {
  const isNewRestart = type === 'REBOOT' && !executedRestarts(device).includes(id)
  if (!isNewRestart) return device.publish('operation', { id, state: 'SUCCEEDED' })
  executedRestarts(device).push(id)
  await device.publish('operation', { id, state: 'ACKNOWLEDGED' })
  device.drop()
  await reconnect(device, options)
}

const reconnectEveryMs = 250
const maxReconnects = 40

/** Ends when the device is connected, also if the test has connected it: the server may have been killed and started again. */
async function reconnect(device: TestDevice, options: AnswerOptions): Promise<void> {
  const { client } = device
  for (let i = 0; i < maxReconnects && device.client === client; i++) {
    try {
      return await connectAnswering(device, options)
    } catch {
      await pause(reconnectEveryMs)
    }
  }
}

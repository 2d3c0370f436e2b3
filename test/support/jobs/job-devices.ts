// Rooms with devices that answer configs and commands as a test wants, and a job that a test waits for.

import { expect } from 'vitest'
import { newDevice, type TestDevice } from '../devices/test-device.ts'
import type { Harness, Reply, TestOrg } from '../harness.ts'
import { until } from '../program.ts'

export interface RoomWithDevice {
  readonly roomId: number
  readonly device: TestDevice
}

export async function newRooms(
  harness: Harness,
  org: TestOrg,
  count: number,
  room: object = {},
): Promise<RoomWithDevice[]> {
  const rooms: RoomWithDevice[] = []
  for (let i = 0; i < count; i++) {
    const roomId = (await org.call('POST', '/rooms', { body: { name: `Room ${i}`, ...room } })).body.id
    rooms.push({ roomId, device: await newDevice(harness, org, { roomId }) })
  }
  return rooms
}

/** The device takes the next config, or rejects all of its keys. */
export async function answerConfig(device: TestDevice, rejects = false): Promise<Reply['body']> {
  const sent = await device.next('config', 15_000)
  const rejected = Object.fromEntries(Object.keys(sent.config).map((name) => [name, 'not supported']))
  await device.publish('config', {
    version: sent.version,
    config: rejects ? {} : sent.config,
    ...(rejects && { rejected }),
  })
  return sent
}

/** The device does what the next command asks for, or fails. */
export async function answerCommand(device: TestDevice, error?: string): Promise<Reply['body']> {
  const sent = await device.next('operation', 15_000)
  await device.publish('operation', { id: sent.id, state: 'ACKNOWLEDGED' })
  await device.publish('operation', { id: sent.id, state: error ? 'FAILED' : 'SUCCEEDED', ...(error && { error }) })
  return sent
}

export async function newJob(org: TestOrg, body: object): Promise<Reply['body']> {
  const made = await org.call('POST', '/jobs', { body: { name: 'Night mode', start: true, ...body } })
  expect(made.status, made.text).toBe(200)
  return made.body
}

/** Waits until the job is so. The engine runs every second, whatever the clock of the test says. */
export const jobOnce = (org: TestOrg, id: string, what: string, isSo: (job: Reply['body']) => boolean) =>
  until(
    what,
    async () => {
      const job = (await org.call('GET', `/jobs/${id}`)).body
      return isSo(job) ? (job as Reply['body']) : undefined
    },
    { everyMs: 100, timeoutMs: 15_000 },
  )

export const unitsOf = async (org: TestOrg, id: string): Promise<Reply['body'][]> =>
  (await org.call('GET', `/jobs/${id}/rooms`)).body.rooms

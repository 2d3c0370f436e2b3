// Calls of the API about the sources of a gateway, for tests that run a gateway with the line source.
import { expect } from 'vitest'
import type { Reply, TestOrg } from '../harness.ts'
import { startTimeoutMs, until } from '../program.ts'
import type { LineSource } from './line-source.ts'

/** The largest request of people about devices of a source. */
const maxDecisions = 200

export class SourceCalls {
  readonly #call: TestOrg['call']
  readonly gatewayId: string
  readonly roomId: number

  constructor(call: TestOrg['call'], gatewayId: string, roomId: number) {
    this.#call = call
    this.gatewayId = gatewayId
    this.roomId = roomId
  }

  /** Creates the source, and returns its id. */
  async connect({ url, key }: LineSource, more: object = {}): Promise<string> {
    const body = { type: 'neat-pulse', gatewayId: this.gatewayId, url, orgId: 'lines', key, ...more }
    const created = await this.#call('POST', '/sources', { body })
    expect(created.status, created.text).toBe(200)
    return created.body.id
  }

  source = async (id: string): Promise<Reply['body']> => (await this.#call('GET', `/sources/${id}`)).body
  devices = async (id: string): Promise<Reply['body'][]> =>
    (await this.#call('GET', `/sources/${id}/devices`)).body.devices
  device = async (id: string, key: string): Promise<Reply['body']> =>
    (await this.devices(id)).find((device) => device.key === key)

  async isInState(id: string, state: string): Promise<void> {
    await until(`the source is ${state}`, async () => (await this.source(id)).state === state)
  }

  /** Adopts devices into the room, and waits until they are online. Returns their endpoints in the same order. */
  async adopt(id: string, keys: readonly string[], timeoutMs = startTimeoutMs): Promise<string[]> {
    await until('they are found', async () => {
      const found = new Set((await this.devices(id)).map(({ key }) => key))
      return keys.every((key) => found.has(key))
    })
    for (let i = 0; i < keys.length; i += maxDecisions) {
      const devices = keys.slice(i, i + maxDecisions).map((key) => ({ key, state: 'ADOPTED', roomId: this.roomId }))
      const { status, text } = await this.#call('PUT', `/sources/${id}/devices`, { body: { devices } })
      expect(status, text).toBe(200)
    }
    return until(
      'they are online',
      async () => {
        const { endpoints } = (await this.#call('GET', '/endpoints')).body
        const connected = new Set(
          endpoints.flatMap((one: { id: string; connected: boolean }) => (one.connected ? [one.id] : [])),
        )
        const endpointOf = new Map((await this.devices(id)).map(({ key, endpointId }) => [key, endpointId]))
        const ids = keys.map((key) => endpointOf.get(key))
        return ids.every((endpoint) => connected.has(endpoint)) && ids
      },
      { timeoutMs, everyMs: keys.length > 50 ? 500 : 50 },
    )
  }
}

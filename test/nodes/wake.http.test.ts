// Commands and configs that are asked of another node reach a device by a message, and do not wait for the poll of its node.
import { expect, test } from 'vitest'
import { twoNodes } from '../support/nodes/two-nodes.ts'

/** A node polls every 2 s. Of messages that are sent as soon as the one before has arrived, the poll would find one at each run. */
const count = 10
const maxMedianMs = 1000

const median = (list: readonly number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]

test('commands and configs that are asked of another node, one after the other, arrive sooner than a poll finds them', async () => {
  const nodes = await twoNodes()
  const device = await nodes.device(nodes.a)
  const tookMs = { operation: [] as number[], config: [] as number[] }
  const measure = async (kind: 'operation' | 'config', path: string, body: object) => {
    const asked = performance.now()
    const reply = await nodes.call(nodes.b, 'POST', path, { body })
    expect(reply.status, reply.text).toBe(200)
    const arrived = await device.next(kind)
    tookMs[kind].push(performance.now() - asked)
    return { reply: reply.body, arrived }
  }
  for (let i = 1; i <= count; i++) {
    const message = { message: `Message ${i}`, endpointIds: [device.id] }
    const sent = await measure('operation', '/endpoints/send_message', message)
    expect(sent.arrived.id).toBe(sent.reply.operations[0].id)
    await device.publish('operation', { id: sent.arrived.id, state: 'SUCCEEDED' })
  }
  for (let i = 1; i <= count; i++) {
    const { arrived } = await measure('config', `/endpoints/${device.id}/config`, { brightness: i / 100 })
    expect(arrived.version).toBe(i)
  }
  for (const [kind, times] of Object.entries(tookMs)) {
    expect(times, kind).toHaveLength(count)
    expect(median(times), `${kind}: ${times.map(Math.round)} ms`).toBeLessThan(maxMedianMs)
  }
})

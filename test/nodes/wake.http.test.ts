// Commands and configs that are asked of another node reach a device by a message, without a poll of its node.
import { expect, test } from 'vitest'
import { twoNodes } from '../support/nodes/two-nodes.ts'

const count = 10

test('commands and configs that are asked of another node, one after the other, arrive before a poll finds them', async () => {
  // The first poll would come after 1000 s.
  const nodes = await twoNodes({}, { taskPauseShare: 500 })
  const device = await nodes.device(nodes.a)
  const ask = async (kind: 'operation' | 'config', path: string, body: object) => {
    const reply = await nodes.call(nodes.b, 'POST', path, { body })
    expect(reply.status, reply.text).toBe(200)
    return { reply: reply.body, arrived: await device.next(kind) }
  }
  for (let i = 1; i <= count; i++) {
    const message = { message: `Message ${i}`, endpointIds: [device.id] }
    const sent = await ask('operation', '/endpoints/send_message', message)
    expect(sent.arrived.id).toBe(sent.reply.operations[0].id)
    await device.publish('operation', { id: sent.arrived.id, state: 'SUCCEEDED' })
  }
  for (let i = 1; i <= count; i++) {
    const { arrived } = await ask('config', `/endpoints/${device.id}/config`, { brightness: i / 100 })
    expect(arrived.version).toBe(i)
  }
})

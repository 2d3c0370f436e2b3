// The thread of tools: how many run at the same time, and what becomes of them when it ends. [contract 17.mcp]
import { pino } from 'pino'
import { afterAll, expect, test } from 'vitest'
import { ToolThread } from './tool-thread.ts'

const thread = new ToolThread({ key: Buffer.alloc(32), version: '1.0.0' }, pino({ enabled: false }))
afterAll(() => thread.close())

const request = {
  headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } },
  caller: { id: 'org KEY 1', scopes: ['read'] as const },
  org: 'org',
  now: 0,
}
const me = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: ['{"actor"', ':{}}'].map((text) => Buffer.from(text)),
}

test('a tool sends requests without a key, and its answer comes back', async () => {
  const sent: object[] = []
  const answer = await thread.run(request, async (one) => {
    sent.push(one)
    return me
  })
  expect(answer.status).toBe(200)
  expect(answer.body).toContain('actor')
  expect(sent).toMatchObject([{ method: 'GET', url: '/v1/orgs/org/me' }])
  expect(JSON.stringify(sent)).not.toMatch(/authorization/i)
})

test('at most 16 tools run at the same time; when the thread ends they are refused, and the next call starts another', async () => {
  const { promise: never } = Promise.withResolvers<never>()
  const running = Array.from({ length: 16 }, () =>
    thread.run(request, () => never).catch((error: Error) => error.message),
  )
  expect(() => thread.run(request, async () => me)).toThrow(/Too many tools/)
  await thread.close()
  expect(new Set(await Promise.all(running))).toEqual(new Set([expect.stringContaining('did not finish')]))
  expect((await thread.run(request, async () => me)).status).toBe(200)
})

// Two writers at the same time: one wins, the other gets a clear answer, nothing is half done.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, startHarness } from '../support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

describe('two writers at once', () => {
  test('with the same If-Match: one wins, the others get a clear answer, nothing is half done', async () => {
    const { call, audit } = await harness.newOrg()
    await call('POST', '/regions', { body: { name: 'start' } })
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        call('PUT', '/regions/1', { body: { name: `writer ${i}` }, headers: { 'if-match': '"1"' } }),
      ),
    )
    const winners = replies.filter((r) => r.status === 200)
    expect(winners).toHaveLength(1)
    expect(replies.filter((r) => r.status === 412)).toHaveLength(9)
    const { regions } = (await call('GET', '/regions')).body
    expect(regions).toEqual([{ ...winners[0]?.body }])
    expect((await audit()).filter((e) => e.type === 'REGION_UPDATED')).toHaveLength(1)
  })

  test('deleting a region while a location moves in: never a location without its region', async () => {
    const { call } = await harness.newOrg()
    for (let round = 0; round < 10; round++) {
      const region = (await call('POST', '/regions', { body: { name: 'r' } })).body.id
      const location = (await call('POST', '/locations', { body: { name: 'l' } })).body.id
      const [removed, moved] = await Promise.all([
        call('DELETE', `/regions/${region}`),
        call('PUT', `/locations/${location}`, { body: { regionId: region } }),
      ])
      expect([removed.status, moved.status].sort()).toEqual([200, 400])
      const after = (await call('GET', '/locations')).body.locations.find((l: { id: number }) => l.id === location)
      expect(after.region?.id).toBe(moved.status === 200 ? region : undefined)
    }
  })

  test('many creates at once get one id each, without gaps', async () => {
    const { call } = await harness.newOrg()
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, i) => call('POST', '/regions', { body: { name: `${i}` } })),
    )
    expect(made.map((r) => r.body.id).sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
  })
})

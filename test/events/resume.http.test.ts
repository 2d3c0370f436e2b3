// Tests resuming an event stream: without gaps and duplicates, or with a reset event. [contract 6.events]
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BlockReader } from '../../src/client/server-sent-events.ts'
import { follow } from '../support/event-follower.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const create = (org: TestOrg, name: string) => org.call('POST', '/regions', { body: { name } })
const namesOf = (reader: Awaited<ReturnType<typeof follow>>) => reader.events.map((e) => e.change?.target?.name)

test('a reader that is cut off at any moment and comes back hears everything once, in order, while it pours', async () => {
  await fc.assert(
    fc.asyncProperty(
      // After how many events it leaves, and whether it reads something else in between.
      fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 3, maxLength: 8 }),
      fc.constantFrom(undefined, 'structure', 'structure,sample'),
      async (stays, types) => {
        const org = await harness.newOrg()
        const query = types === undefined ? {} : { types }
        let isPouring = true
        let made = 0
        const first = await follow(org.client, query)
        const pour = async () => {
          while (isPouring) await create(org, `R${++made}`)
        }
        const poured = Promise.all([pour(), pour(), pour()])
        const heard: string[] = []
        let reader = first
        for (const stay of stays) {
          const { received, stream } = reader
          await until('some events', () => received.length >= stay && stream.lastEventId)
          reader.leave()
          await until('its end', () => reader.ended)
          heard.push(...received.map(({ event }) => event.change?.id ?? event.type))
          reader = await follow(org.client, query, { lastEventId: stream.lastEventId })
        }
        isPouring = false
        await poured
        const entries = (await org.audit()).filter((entry) => entry.type === 'REGION_CREATED')
        const all = entries.map((entry) => entry.id).reverse()
        await until('the last one', () => heard.length + reader.received.length >= all.length)
        heard.push(...reader.received.map(({ event }) => event.change?.id ?? event.type))
        reader.leave()
        expect(heard).toEqual(all)
        expect(all.length).toBe(made)
      },
    ),
    { numRuns: 6, endOnFailure: true },
  )
})

test('a reader without an event can resume too, and so can one that chose few types', async () => {
  const org = await harness.newOrg()
  const first = await follow(org.client, { types: 'structure' })
  const staying = await follow(org.client)
  await until('its position', () => first.stream.lastEventId)
  first.leave()
  await until('its end', () => first.ended)
  await create(org, 'Missed')
  // It is told already when the other comes back.
  await staying.next('structure')
  const { lastEventId } = first.stream
  const second = await follow(org.client, { types: 'structure' }, { lastEventId })
  await second.next('structure')
  await create(org, 'Live')
  await second.next('structure', (e) => e.change?.target?.name === 'Live')
  expect(namesOf(second)).toEqual(['Missed', 'Live'])
  const choosy = await follow(org.client, { types: 'sample' }, { lastEventId })
  const all = await follow(org.client, {}, { lastEventId })
  await all.next('structure', (e) => e.change?.target?.name === 'Live')
  expect(choosy.events).toEqual([])
})

test('the query works as the header does, and the header wins', async () => {
  const org = await harness.newOrg()
  const first = await follow(org.client)
  await create(org, 'One')
  await create(org, 'Two')
  await first.next('structure', (e) => e.change?.target?.name === 'Two')
  const [one, two] = first.received.map(({ id }) => id)
  const byQuery = await follow(org.client, { lastEventId: one ?? '' })
  await byQuery.next('structure')
  expect(byQuery.received).toEqual(first.received.slice(1))
  const byHeader = await follow(org.client, { lastEventId: one ?? '' }, { lastEventId: two })
  await create(org, 'Three')
  await byHeader.next('structure')
  expect(namesOf(byHeader)).toEqual(['Three'])
})

test('an id of another start, of the future, of another organisation, or nonsense gives a reset that can be resumed', async () => {
  const [org, other] = [await harness.newOrg(), await harness.newOrg()]
  const theirs = await follow(other.client)
  await create(other, 'Theirs')
  await theirs.next('structure')
  const mine = await follow(org.client)
  await until('its position', () => mine.stream.lastEventId)
  const future = (mine.stream.lastEventId ?? '').replace(/\d+$/, '99')
  const wrong = ['', ' ', 'x', '0123456789ab-1', future, `${mine.stream.lastEventId}-1`, '-1', '9'.repeat(400)]
  for (const lastEventId of [...wrong, theirs.received[0]?.id]) {
    const reader = await follow(org.client, { types: 'sample', roomId: 7 }, { lastEventId })
    const reset = await reader.next('reset')
    expect(reset, lastEventId).toEqual({ type: 'reset', at: expect.any(String), roomIds: [] })
    expect(reader.received[0]?.id).toBe(mine.stream.lastEventId)
  }
  const reset = await follow(org.client, {}, { lastEventId: 'x' })
  await reset.next('reset')
  reset.leave()
  await create(org, 'After')
  const again = await follow(org.client, {}, { lastEventId: reset.stream.lastEventId })
  await again.next('structure')
  expect(namesOf(again)).toEqual(['After'])
})

test('two minutes after the last reader left nothing is retained: the next reader gets a reset', async () => {
  const org = await harness.newOrg()
  const first = await follow(org.client)
  await create(org, 'Heard')
  await first.next('structure')
  const { lastEventId } = first.stream
  first.leave()
  await until('nobody is there', async () => !harness.services.feed.forOrg(org.org.key).isFollowed() || first.ended)
  expect(harness.services.feed.forOrg(org.org.key).isFollowed()).toBe(true)
  await until('it is forgotten', () => {
    harness.clock.advance(60_000)
    return !harness.services.feed.forOrg(org.org.key).isFollowed()
  })
  await create(org, 'Told to nobody')
  const late = await follow(org.client, {}, { lastEventId })
  await late.next('reset')
  await create(org, 'New')
  await late.next('structure')
  expect(late.events.map((e) => e.change?.target?.name ?? e.type)).toEqual(['reset', 'New'])
})

test('the client reads blocks however they are cut, with any end of line, also inside a character', () => {
  const text =
    ': hi\nretry: 2000\nid: a-0\n\nid: a-1\nevent: x\ndata: {"n":"Ré\u{1F600}"}\n\n: beat\n\ndata:1\ndata: 2\nid: a-2\n\n'
  const expected = [
    { id: 'a-0', data: undefined },
    { id: 'a-1', data: '{"n":"Ré\u{1F600}"}' },
    { id: 'a-2', data: '1\n2' },
  ]
  for (const end of ['\n', '\r\n', '\r']) {
    // A lone CR at the very end may be half of a CRLF: only what follows can tell.
    const bytes = Buffer.from(`${text.replaceAll('\n', end)}: end`)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 }), (cuts) => {
        const reader = new BlockReader()
        const ends = [...cuts.sort((a, b) => a - b), bytes.length]
        const blocks = ends.flatMap((to, i) => reader.read(bytes.subarray(ends[i - 1] ?? 0, to)))
        expect(blocks).toEqual(expected)
      }),
    )
  }
})

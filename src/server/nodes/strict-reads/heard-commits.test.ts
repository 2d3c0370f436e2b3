// The memory of commits that were heard: gaps, late messages, and nodes that come and go.
import { expect, test } from 'vitest'
import { HeardCommits } from './heard-commits.ts'

const last = (nodes: Record<number, number>, orgs: Record<number, number> = {}, lastNode = 2) => {
  const asMap = (numbers: Record<number, number>) => new Map(Object.entries(numbers).map(([k, n]) => [Number(k), n]))
  return { lastNode, nodes: asMap(nodes), orgs: asMap(orgs) }
}
function newHeard() {
  const heard = new HeardCommits()
  heard.skipTo(last({ 1: 10, 2: 20 }, { 7: 30 }))
  return heard
}

test('numbers count when all before them were heard, in any order', () => {
  const heard = newHeard()
  expect(heard.findUnheard(last({ 1: 10, 2: 20 }, { 7: 30 }))).toBeUndefined()
  heard.add({ nodeId: 1, number: 12 })
  heard.add({ org: 7, number: 32 })
  expect(heard.findUnheard(last({ 1: 12, 2: 20 }, { 7: 32 }))).toEqual({ ofNodes: true, ofOrgs: [7], mayArrive: true })
  heard.add({ nodeId: 1, number: 11 })
  expect(heard.findUnheard(last({ 1: 12, 2: 20 }, { 7: 32 }))).toEqual({ ofNodes: false, ofOrgs: [7], mayArrive: true })
  heard.add({ org: 7, number: 31 })
  expect(heard.findUnheard(last({ 1: 12, 2: 20 }, { 7: 32 }))).toBeUndefined()
  expect(heard.isNew({ nodeId: 1, number: 12 })).toBe(false)
  expect(heard.isNew({ nodeId: 1, number: 13 })).toBe(true)
})

test('a look that is older than what was heard since is satisfied', () => {
  const heard = newHeard()
  heard.add({ nodeId: 1, number: 11 })
  expect(heard.findUnheard(last({ 1: 10, 2: 20 }))).toBeUndefined()
})

test.each([
  ['a node that is not up any more', last({ 1: 10 })],
  ['a node that is new', last({ 1: 10, 2: 20, 3: 1 }, {}, 3)],
  ['a node that started and ended since the last look', last({ 1: 10, 2: 20 }, {}, 3)],
])('no message is waited for from %s', (_, look) => {
  const heard = newHeard()
  expect(heard.findUnheard(look)).toEqual({ ofNodes: true, ofOrgs: [], mayArrive: false })
  heard.skipTo(look)
  expect(heard.findUnheard(look)).toBeUndefined()
})

test('an organisation that was not read yet begins with its first look, whatever was heard before', () => {
  const heard = newHeard()
  heard.add({ org: 8, number: 5 })
  expect(heard.findUnheard(last({ 1: 10, 2: 20 }, { 8: 5 }))).toEqual({ ofNodes: false, ofOrgs: [8], mayArrive: false })
})

test('a lost message is noticed also after thousands of later ones', () => {
  const heard = newHeard()
  for (let number = 12; number < 5000; number++) heard.add({ nodeId: 1, number })
  expect(heard.findUnheard(last({ 1: 4999, 2: 20 }))).toMatchObject({ ofNodes: true })
  heard.skipTo(last({ 1: 4999, 2: 20 }))
  heard.add({ nodeId: 1, number: 5000 })
  expect(heard.findUnheard(last({ 1: 5000, 2: 20 }))).toBeUndefined()
})

test('a wait ends with the next commit that is heard, or after its time', async () => {
  const heard = newHeard()
  let isOver = false
  const waiting = heard.waitForNext(60_000).then(() => {
    isOver = true
  })
  await new Promise(setImmediate)
  expect(isOver, 'nothing was heard yet').toBe(false)
  heard.add({ nodeId: 1, number: 11 })
  await waiting
  const startedAt = performance.now()
  await heard.waitForNext(20)
  expect(performance.now() - startedAt).toBeGreaterThan(15)
})

// Compares the answer to a restricted caller with an owner's: it is a part of it, and names nothing that is hidden.
import { expect } from 'vitest'
import type { Reply } from '../harness.ts'
import { type GeneratedPlaces, regionsOf, type Thing } from '../places/generated-places.ts'
import { findExcess } from '../places/json-subset.ts'

export const isThingVisible = ({ seenRegions }: GeneratedPlaces, thing: Thing): boolean =>
  regionsOf(thing).some((region) => seenRegions.includes(region))
/** The audit log shows what happened to a thing while the caller saw it. */
export const wasVisible = (places: GeneratedPlaces, thing: Thing): boolean =>
  isThingVisible(places, thing) || [...thing.past].some((region) => places.seenRegions.includes(region))

/** Returns names, serial numbers and ids in a text that belong to one of the things. */
export function findMentions(text: string, things: readonly Thing[]): string[] {
  const words = new Set(text.match(/[\w-]+/g))
  const isIn = (mark: string) => words.has(mark) || (mark.startsWith('qz-') && text.includes(mark))
  return things.flatMap(({ kind, id, marks }) => [String(id), ...marks].filter(isIn).map((mark) => `${kind} ${mark}`))
}

/** A page token and the counts of a list or a job are about what the caller sees, so they differ from the owner's. */
const isCount = (key: string) =>
  key === 'nextPageToken' || key.endsWith('Count') || ['counts', 'stageCounts', 'waiting'].includes(key)
const without = (value: object, isLeftOut: (key: string) => boolean) =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !isLeftOut(key)))
/** Leaves out what is computed for the caller: counts, and the texts of an incident that is partly visible. */
function comparablePart(body: object, { mixedIncident }: GeneratedPlaces): object {
  const isOwnWord = (key: string) => isCount(key) || ['title', 'hint', 'cause'].includes(key)
  const shown = without(body, shownId(body) === mixedIncident ? isOwnWord : isCount)
  // While nothing was rolled up it is the time of the request.
  delete shown.quartersFrom
  for (const list of ['jobs', 'incidents'].filter((key) => key in shown)) {
    shown[list] = shown[list].map((item: object) =>
      list === 'jobs' ? without(item, isCount) : shownId(item) === mixedIncident ? without(item, isOwnWord) : item,
    )
  }
  return shown
}
export const shownId = (item: unknown): unknown => (item as { id?: unknown } | null)?.id

/** All counts in an answer, by where they are. The items of a list are found by their ids, because the caller may see fewer of them. */
function countsIn(value: unknown, path = ''): [path: string, count: number][] {
  if (typeof value === 'number') return /Count$|\/(counts|waiting)\//.test(path) ? [[path, value]] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => countsIn(item, `${path}/${shownId(item) ?? key}`))
}

/** A device reports which devices it is paired with, and the report is shown whole, wherever these are. [contract 11.access] */
const withoutPairs = (body: unknown): string =>
  JSON.stringify(body, (key, value) => (key === 'pairingSerial' || key === 'pairedSerials' ? undefined : value))

export function expectPart(
  part: Reply,
  whole: Reply,
  places: GeneratedPlaces,
  hidden: readonly Thing[],
  what: string,
): void {
  const text = part.body === undefined ? part.text : withoutPairs(part.body)
  expect(findMentions(text, hidden), `${what} names what is hidden: ${text}`).toEqual([])
  // A file of a bug report is one thing.
  if (part.body === undefined) return void expect(part.text, what).toBe(whole.text)
  const excess = findExcess(comparablePart(part.body, places), whole.body)
  expect(excess, `${what} says more than an owner is told`).toBeUndefined()
  const most = new Map(countsIn(whole.body))
  const larger = countsIn(part.body).filter(([path, count]) => count > (most.get(path) ?? -1))
  expect(larger, `${what} counts more than an owner does`).toEqual([])
}

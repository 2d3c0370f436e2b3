// Decides which audit entries a query asks for, by what its caller sees of them. [contract 4.auditLogs]
import { actionName } from '../../../contract/journal/action-names.ts'
import { includesAll, normalizeText, searchWords } from '../../../contract/search-text.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { VisibleEntry } from './visible-entry.ts'

export type EntryFilterQuery = Pick<
  InputOf<'auditLogs'>['query'],
  'category' | 'type' | 'actor' | 'target' | 'jobId' | 'text'
>

/** These keys of a query filter entries, in the order in which page tokens and exports name them. */
const filterNames = ['category', 'type', 'actor', 'target', 'jobId', 'text'] as const

/** The filters that a query has; an empty one is none. */
export const filtersIn = (query: EntryFilterQuery): Record<string, string> =>
  Object.fromEntries(filterNames.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))

interface Named {
  readonly type: string
  readonly id: string
  readonly name: string
  readonly serial?: string
}

/** The part of the details that filters read. */
interface Details {
  readonly affected?: readonly Named[]
  readonly jobId?: string
  readonly before?: Readonly<Record<string, unknown>>
  readonly after?: Readonly<Record<string, unknown>>
}

/** The job that made the change, if the caller sees the details. */
export const jobOf = ({ details }: VisibleEntry): string | undefined =>
  details === null ? undefined : (JSON.parse(details) as Details).jobId

type Test = (entry: VisibleEntry, details: Details) => boolean

/** Returns undefined if the query filters nothing. */
export function entryFilter(query: EntryFilterQuery): ((entry: VisibleEntry) => boolean) | undefined {
  const { category, type, actor, target, jobId, text } = query
  const tests = [
    actor && isActor(actor),
    jobId && ((_: VisibleEntry, details: Details) => details.jobId === jobId),
    target && isTarget(target),
    text && hasText(text),
  ].filter((test) => typeof test === 'function')
  if (!category && !type && tests.length === 0) return undefined
  return (entry) => {
    if (category && entry.category !== category) return false
    if (type && entry.type !== type) return false
    if (tests.length === 0) return true
    const details: Details = entry.details === null ? {} : JSON.parse(entry.details)
    return tests.every((test) => test(entry, details))
  }
}

/** An identifier, or a name whose case and accents do not matter; both can follow a type, as in `room:12`. */
function namesThing(text: string): (thing: Named) => boolean {
  const name = normalizeText(text)
  return (thing) =>
    thing.id === text ||
    `${thing.type}:${thing.id}` === text ||
    normalizeText(thing.name) === name ||
    (thing.serial !== undefined && normalizeText(thing.serial) === name)
}

function isActor(text: string): Test {
  const isNamed = namesThing(text)
  return (entry) => isNamed({ type: entry.actor_type, id: entry.actor_id, name: entry.actor_name })
}

function isTarget(text: string): Test {
  const isNamed = namesThing(text)
  return (entry, { affected = [] }) => namedIn(entry, affected).some(isNamed)
}

const namedIn = (entry: VisibleEntry, affected: readonly Named[]): readonly Named[] =>
  entry.target_type === null
    ? affected
    : [{ type: entry.target_type, id: entry.target_id ?? '', name: entry.target_name ?? '' }, ...affected]

/** Every word occurs in a name, a serial number, the type of the change, the request or the address. */
function hasText(text: string): Test {
  const words = searchWords(text)
  return (entry, { affected = [], before, after }) => {
    const things = namedIn(entry, affected).flatMap(({ name, serial = '' }) => [name, serial])
    const serials = [before?.serial, after?.serial].filter((serial) => typeof serial === 'string')
    const kind = [entry.type.replaceAll('_', ' '), actionName(entry.type)]
    const texts = [entry.actor_name, ...things, ...serials, ...kind, entry.request_id ?? '', entry.ip ?? '']
    return includesAll(normalizeText(texts.join(' ')), words)
  }
}

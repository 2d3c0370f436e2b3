// The values of a fake codec by path: what its release and product have, what may be set, and the trees that it sends.
import { type Release, type XapiEntry, type XapiParameter, xapiTable } from './xapi-table.ts'

export type ValueKind = 'Status' | 'Configuration'
export type Value = string | number
/** A path of a request: names, and numbers for the items of lists. */
export type Query = readonly (string | number)[]

interface Step {
  readonly name: string
  readonly index: number | undefined
}
/** Each question is compared with every value, so a path is taken apart once. */
const knownSteps = new Map<string, readonly Step[]>()
function stepsOf(path: string): readonly Step[] {
  const known = knownSteps.get(path)
  if (known) return known
  const steps = path.split(' ').map((part) => {
    const [, name = part, index] = /^(.+)\[(\w+)\]$/.exec(part) ?? []
    return { name, index: index === undefined ? undefined : Number(index) }
  })
  knownSteps.set(path, steps)
  return steps
}

/** Whether the value at a path belongs to a query; a query without the number of an item means all of them. */
export function isBelow(query: Query, path: string): boolean {
  const steps = stepsOf(path)
  let at = -1
  return query.every((token) => {
    if (typeof token === 'number') return steps[at]?.index === token
    at++
    return steps[at]?.name === token
  })
}

export const isAllowed = ({ values, integer, text }: XapiParameter, value: unknown): boolean => {
  if (values) return values.includes(String(value))
  if (integer) {
    const [min = -Infinity, max = Infinity] = integer
    return Number.isInteger(Number(value)) && Number(value) >= min && Number(value) <= max
  }
  const [shortest = 0, longest = Infinity] = text ?? []
  return typeof value === 'string' && value.length >= shortest && value.length <= longest && !/[\r\n]/.test(value)
}

/** The row of the table for a path with numbers, such as `Network[1] MTU`; of several rows, the one that most products have. */
export function entryOf(release: Release, kind: XapiEntry['kind'], path: string): XapiEntry | undefined {
  return (rowsByPath.get(`${kind} ${withoutIds(path)}`) ?? [])
    .filter((entry) => entry.in[release] !== undefined && coversPath(entry.path, path))
    .sort((a, b) => (b.in[release] ?? 0) - (a.in[release] ?? 0))[0]
}

const withoutIds = (path: string) => path.replaceAll(/\[[^\]]+\]/g, '[n]')
const rowsByPath = Map.groupBy(xapiTable, ({ kind, path }) => `${kind} ${withoutIds(path)}`)

function coversPath(pattern: string, path: string): boolean {
  const [patterns, parts] = [pattern.split(' '), path.split(' ')]
  return (
    patterns.length === parts.length &&
    patterns.every((wanted, i) => {
      const [, name, range] = /^(.+)\[(.+)\]$/.exec(wanted) ?? []
      const [, found, index] = /^(.+)\[(.+)\]$/.exec(parts[i] as string) ?? []
      if (name === undefined) return wanted === parts[i]
      if (name !== found) return false
      const [from, to = from] = (range as string).split('..').map(Number)
      return range === 'n' || index === 'n' || (Number(index) >= (from as number) && Number(index) <= (to as number))
    })
  )
}

/** Puts values into the tree that goes over the wire: items of lists are objects with an id. */
export function treeOf(values: Iterable<readonly [path: string, value: unknown]>): Tree {
  const root: Tree = {}
  for (const [path, value] of values) {
    const steps = stepsOf(path)
    const last = steps.at(-1) as Step
    const node = steps.slice(0, -1).reduce(childOf, root)
    if (last.index === undefined) node[last.name] = value
    else Object.assign(childOf(node, last), value)
  }
  return root
}

type Tree = Record<string, unknown>

/** The child at a step, made if it is missing. */
function childOf(node: Tree, { name, index }: Step): Tree {
  if (index === undefined) {
    node[name] ??= {}
    return node[name] as Tree
  }
  node[name] ??= []
  const list = node[name] as Tree[]
  const known = list.find(({ id }) => id === index)
  if (known) return known
  const item = { id: index }
  list.push(item)
  return item
}

/** The part of a tree that a query asks for; undefined if there is none. */
export function partOf(tree: unknown, query: Query): unknown {
  return query.reduce<unknown>((node, token) => {
    if (typeof token === 'number') return Array.isArray(node) ? node.find(({ id }) => id === token) : undefined
    if (Array.isArray(node)) return node.map((item) => ({ id: item.id, [token]: item[token] }))
    return (node as Record<string, unknown> | undefined)?.[token]
  }, tree)
}

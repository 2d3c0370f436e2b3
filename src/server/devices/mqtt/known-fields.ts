// Copies the part of a message that its schema knows, with texts trimmed, so that validation never meets the rest.

/** The part of JSON Schema that messages of devices use. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly maxItems?: number
  readonly maxProperties?: number
}

/** A text that is refused, with the path to it. */
export class BadText extends Error {
  /** The outermost key or index first. */
  readonly path: (string | number)[] = []
}

/** Adds one step to the path of a refused text, on the way out of the value that contains it. */
function within(step: string | number, error: unknown): unknown {
  if (error instanceof BadText) error.path.unshift(step)
  return error
}

export type Copy = (value: unknown) => unknown

/**
 * A value of the wrong type, and a list or map that is too long, stays as it is: validation refuses it without looking inside. So the
 * work is bounded by the schema, not by what was sent.
 */
export function knownFieldsCopier(schema: Schema, tidyText: (text: string) => string): Copy {
  const members = schema.anyOf ?? [schema]
  const copyList = listCopier(
    members.find(({ items }) => items),
    tidyText,
  )
  const copyObject = objectCopier(
    members.find(({ properties, patternProperties }) => properties ?? patternProperties),
    tidyText,
  )
  return (value) => {
    if (typeof value === 'string') return tidyText(value)
    if (typeof value !== 'object' || value === null) return value
    return Array.isArray(value) ? copyList(value) : copyObject(value as Record<string, unknown>)
  }
}

function listCopier(schema: Schema | undefined, tidyText: (text: string) => string) {
  if (!schema?.items) return (list: unknown[]) => list
  const { maxItems = Number.POSITIVE_INFINITY } = schema
  const copyItem = knownFieldsCopier(schema.items, tidyText)
  return (list: unknown[]) => {
    if (list.length > maxItems) return list
    return list.map((item, index) => {
      try {
        return copyItem(item)
      } catch (error) {
        throw within(index, error)
      }
    })
  }
}

function objectCopier(schema: Schema | undefined, tidyText: (text: string) => string) {
  const { properties, patternProperties = {}, maxProperties = Number.POSITIVE_INFINITY } = schema ?? {}
  const [inMap] = Object.values(patternProperties)
  if (inMap) {
    const copyValue = knownFieldsCopier(inMap, tidyText)
    return (map: Record<string, unknown>) => {
      const names = Object.keys(map)
      if (names.length > maxProperties) return map
      return Object.fromEntries(names.map((name) => [name, copyNamed(map, name, copyValue)]))
    }
  }
  if (!properties) return (object: Record<string, unknown>) => object
  const fields = Object.entries(properties).map(([name, inner]) => [name, knownFieldsCopier(inner, tidyText)] as const)
  return (object: Record<string, unknown>) => {
    const known: Record<string, unknown> = {}
    for (const [name, copy] of fields) if (Object.hasOwn(object, name)) known[name] = copyNamed(object, name, copy)
    return known
  }
}

function copyNamed(object: Record<string, unknown>, name: string, copy: Copy): unknown {
  try {
    return copy(object[name])
  } catch (error) {
    throw within(name, error)
  }
}

type Path = readonly (string | number)[]

/** Returns the paths to keys that the schema does not know, at most `max` of them. */
export function findUnknownKeys(schema: Schema, value: unknown, max: number): Path[] {
  const found: Path[] = []
  const walk = (inner: Schema | undefined, part: unknown, path: Path): void => {
    if (!inner || typeof part !== 'object' || part === null || found.length >= max) return
    const members = inner.anyOf ?? [inner]
    if (Array.isArray(part)) {
      const items = members.find((member) => member.items)?.items
      for (const [index, item] of part.entries()) walk(items, item, [...path, index])
      return
    }
    const properties = members.find((member) => member.properties)?.properties
    if (!properties) return
    for (const [name, field] of Object.entries(part)) {
      if (Object.hasOwn(properties, name)) walk(properties[name], field, [...path, name])
      else if (found.length < max) found.push([...path, name])
    }
  }
  walk(schema, value, [])
  return found
}

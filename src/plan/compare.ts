// Compares the fields that an entry names with those of the thing it means: what changes, and the values after the change.
import { ownProperty } from '../contract/own-property.ts'
import type { EnvSecret } from './document.ts'
import { type FieldKind, kindTable } from './kinds.ts'
import type { Change, ShownValue } from './plan.ts'
import type { Kind, ThingValue } from './things.ts'

/** In a snapshot it stands for a secret that is set: the service never shows it. */
export const storedSecret: EnvSecret = { env: '' }

export const isEnvSecret = (value: unknown): value is EnvSecret =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && typeof (value as EnvSecret).env === 'string'

type Fields = Readonly<Record<string, ThingValue>>
type MapValue = Readonly<Record<string, ThingValue>>

export interface Comparison {
  readonly changes: Change[]
  readonly after: Record<string, ThingValue>
  /** Secrets that are set and that the document names: whether they are equal is not known. */
  readonly notCompared: string[]
}

interface ComparisonOptions {
  readonly kind: Kind
  readonly before: Fields | undefined
  /** A field that is absent is left alone. */
  readonly desired: Fields
  /** Whether secrets that are set are sent again. */
  readonly setSecrets: boolean
  readonly show: (value: ThingValue) => ShownValue
}

export function compareFields({ kind, before, desired, setSecrets, show }: ComparisonOptions): Comparison {
  const comparison: Comparison = { changes: [], after: {}, notCompared: [] }
  for (const [field, fieldKind] of Object.entries(kindTable[kind].fields)) {
    const old = before?.[field]
    const wanted = desired[field]
    if (fieldKind === 'map') {
      const map = compareMap(field, (old ?? {}) as MapValue, wanted as MapValue | null | undefined, setSecrets)
      comparison.changes.push(...map.changes)
      comparison.notCompared.push(...map.notCompared)
      if (Object.keys(map.after).length > 0) comparison.after[field] = map.after
      continue
    }
    if (isEnvSecret(wanted) && isEnvSecret(old) && !setSecrets) comparison.notCompared.push(field)
    else if (wanted !== undefined && !areSameValues(old ?? null, wanted, fieldKind)) {
      comparison.changes.push(changeOf(field, old, wanted, show))
      if (before || wanted !== null) comparison.after[field] = wanted
      continue
    }
    if (old !== undefined && !isEnvSecret(old)) comparison.after[field] = old
  }
  return comparison
}

/** Each key of a map is compared by itself. A key that is removed is null afterwards, because requests clear it that way. */
function compareMap(
  field: string,
  old: MapValue,
  wanted: MapValue | null | undefined,
  setSecrets: boolean,
): Comparison {
  const changes: Change[] = []
  const notCompared: string[] = []
  const values: [string, ThingValue][] = []
  const desired = wanted === null ? Object.fromEntries(Object.keys(old).map((key) => [key, null])) : (wanted ?? {})
  for (const key of [...new Set([...Object.keys(old), ...Object.keys(desired)])].sort()) {
    const [before, after] = [ownProperty(old, key), ownProperty(desired, key)]
    if (isEnvSecret(after) && isEnvSecret(before) && !setSecrets) notCompared.push(`${field}.${key}`)
    else if (after !== undefined && !areSameValues(before ?? null, after, 'plain')) {
      changes.push(changeOf(`${field}.${key}`, before, after, (value) => value as ShownValue))
      values.push([key, after])
      continue
    }
    if (before !== undefined && !isEnvSecret(before)) values.push([key, before])
  }
  return { changes, after: Object.fromEntries(values), notCompared }
}

function changeOf(
  field: string,
  from: ThingValue | undefined,
  to: ThingValue,
  show: (value: ThingValue) => ShownValue,
): Change {
  const shown = (value: ThingValue): ShownValue => (isEnvSecret(value) ? `$${value.env}` : show(value))
  return {
    field,
    ...(from !== undefined && from !== null && !isEnvSecret(from) && { from: shown(from) }),
    ...(to !== null && { to: shown(to) }),
  }
}

/** The order of a list has no meaning in any field, and neither has an item that it has twice. A secret differs from every other value. */
export function areSameValues(a: ThingValue, b: ThingValue, kind: FieldKind): boolean {
  if (isEnvSecret(a) || isEnvSecret(b)) return false
  if (kind !== 'references' && (isEmpty(a) || isEmpty(b))) return isEmpty(a) === isEmpty(b)
  return typeof a === 'object' && typeof b === 'object' ? canonical(a) === canonical(b) : a === b
}

const isEmpty = (value: ThingValue) => value === null || (Array.isArray(value) && value.length === 0)

/** The text of a value that is the same for equal values. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => {
    if (Array.isArray(part)) return [...new Set(part.map((item) => canonical(item)))].sort()
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
  })

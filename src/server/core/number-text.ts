// Preserves how numbers of a body were written: `1.0` equals `1`, but real clients compare the texts. [contract 4.endpointsApplyConfig]

/** Node has these functions, but TypeScript does not declare them yet. */
const json = JSON as unknown as {
  parse(
    text: string,
    reviver: (this: object, key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): object
}

export type NumberText = ReadonlyMap<string, string>

const none: NumberText = new Map()

/** Parsing with a reviver takes a microsecond for each value, so only bodies with few values are parsed again. A config has about 60 keys. */
const maxValues = 1000

const texts = new WeakMap<object, string>()

/** Associates a body with the text that it was parsed from, until the body is garbage-collected. */
export function rememberText(body: unknown, text: string): void {
  if (typeof body === 'object' && body !== null) texts.set(body, text)
}

/** Returns how the numbers of an object in a body were written. `pick` finds that object in the body. The body must be valid. */
export function numberTextOf(body: unknown, pick: (body: unknown) => unknown): NumberText {
  const text = typeof body === 'object' && body !== null ? texts.get(body) : undefined
  if (text === undefined || countValues(body, maxValues) > maxValues) return none
  const textsByObject = new Map<object, Map<string, string>>()
  const parsed = json.parse(text, function (key, value, { source }) {
    if (typeof value !== 'number' || source === undefined) return value
    const own = textsByObject.get(this) ?? new Map<string, string>()
    textsByObject.set(this, own.set(key, source))
    return value
  })
  return textsByObject.get(pick(parsed) as object) ?? none
}

/** Counts the values in JSON, objects and arrays included, and stops soon after `limit`. */
function countValues(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const key in value) {
    count += countValues((value as Record<string, unknown>)[key], limit - count)
    if (count > limit) break
  }
  return count
}

/** Copies values for an answer, in which numbers with a known text are sent with that text. */
export const withNumberText = <T>(values: Readonly<Record<string, T>>, numberText: NumberText): Record<string, T> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const text = numberText.get(name)
      return [name, text === undefined ? value : (json.rawJSON(text) as T)]
    }),
  )

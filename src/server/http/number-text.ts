// Keeps how numbers of a body were written: `1.0` is the same number as `1`, but real clients compare texts. [contract 4.endpointsApplyConfig]

/** Node knows these, the compiler's declarations do not yet. */
const json = JSON as unknown as {
  parse(
    text: string,
    reviver: (this: object, key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): object
}

export type NumberText = ReadonlyMap<string, string>

const none: NumberText = new Map()

/** Parsing with a reviver takes a microsecond for each value, so only bodies with few are parsed again. A config has about 60 keys. */
const maxValues = 1000

const texts = new WeakMap<object, string>()

/** Remembers what a body was parsed from, for as long as the body lives. */
export function rememberText(body: unknown, text: string): void {
  if (typeof body === 'object' && body !== null) texts.set(body, text)
}

/** How the numbers of an object in a body were written. `pick` finds that object in the body. Call it for valid bodies only. */
export function numberTextOf(body: unknown, pick: (body: unknown) => unknown): NumberText {
  const text = typeof body === 'object' && body !== null ? texts.get(body) : undefined
  if (text === undefined || countValues(body, maxValues) > maxValues) return none
  const found = new Map<object, Map<string, string>>()
  const again = json.parse(text, function (key, value, { source }) {
    if (typeof value !== 'number' || source === undefined) return value
    const own = found.get(this) ?? new Map<string, string>()
    found.set(this, own.set(key, source))
    return value
  })
  return found.get(pick(again) as object) ?? none
}

/** How many values JSON holds, objects and arrays included. Counting ends soon after `enough`. */
function countValues(value: unknown, enough: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const key in value) {
    count += countValues((value as Record<string, unknown>)[key], enough - count)
    if (count > enough) break
  }
  return count
}

/** The same values, for an answer: a number whose text is known is sent with that text. */
export const withNumberText = <T>(values: Readonly<Record<string, T>>, numberText: NumberText): Record<string, T> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const text = numberText.get(name)
      return [name, text === undefined ? value : (json.rawJSON(text) as T)]
    }),
  )

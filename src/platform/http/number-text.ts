// Numbers as they were written: `1.0` is the same number as `1`, but real clients compare texts. [contract 4.endpointsApplyConfig]

/** Node knows these, the compiler's declarations do not yet. */
const json = JSON as unknown as {
  parse(
    text: string,
    reviver: (this: object, key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): object
}

export type NumberText = ReadonlyMap<string, string>

const texts = new WeakMap<object, Map<string, string>>()

/** Parses like JSON.parse and remembers, for each object, how its numbers were written. */
export const parseKeepingNumbers = (text: string): unknown =>
  json.parse(text, function (key, value, { source }) {
    if (typeof value !== 'number' || source === undefined) return value
    const own = texts.get(this) ?? new Map<string, string>()
    texts.set(this, own.set(key, source))
    return value
  })

const none: NumberText = new Map()

export const numberTextOf = (parsed: unknown): NumberText =>
  (typeof parsed === 'object' && parsed !== null && texts.get(parsed)) || none

/** The same values, for an answer: a number whose text is known is sent with that text. */
export const asWritten = <T>(values: Readonly<Record<string, T>>, numberText: NumberText): Record<string, T> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const text = numberText.get(name)
      return [name, text === undefined ? value : (json.rawJSON(text) as T)]
    }),
  )

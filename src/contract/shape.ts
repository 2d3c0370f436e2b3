// The small shapes that every noun's shapes are built of.
import Type, { type TProperties, type TSchema } from 'typebox'

export const int32 = { minimum: -2147483648, maximum: 2147483647 } as const
export const Int32 = (description: string) => Type.Integer({ ...int32, format: 'int32', description })

/** An id in a body: 0 and null both mean "none". [contract 4.locationsUpdate] */
export const NullableId = (description: string) => Type.Union([Int32(description), Type.Null()])

/** One line of text, trimmed, counted in code points. [contract 1.10] */
export const SingleLineText = (max: number, description: string) =>
  Type.String({ minLength: 1, maxLength: max, format: 'line', description })

/** Text that may hold newlines and tabs. [contract 1.10] */
export const MultilineText = (max: number, description: string) =>
  Type.String({ minLength: 1, maxLength: max, format: 'lines', description })

/** A key of an update: absent keeps the value, and null clears it. */
export const OptionalOrNull = <S extends TSchema>(shape: S) => Type.Optional(Type.Union([shape, Type.Null()]))

/** A day of the calendar, without a time. */
export const CalendarDay = (description: string) => Type.String({ format: 'date', description })

export const maxNameLength = 100
export const Name = (noun: string) => SingleLineText(maxNameLength, `Name of the ${noun}. Names need not be unique.`)

/** RFC 3339 UTC with milliseconds. [contract 1.6] */
export const Timestamp = (description: string) => Type.String({ format: 'date-time', description })

/** A time in a query: any ISO 8601 offset; handlers get milliseconds. [contract 1.6] */
export const QueryTime = (description: string) =>
  Type.Unsafe<number>({ type: 'string', format: 'date-time', description })
export const RequiredQueryTime = (description: string) =>
  Type.Unsafe<number>({ ...QueryTime(description), required: true }) as ReturnType<typeof QueryTime> & {
    required: true
  }

/** For every operation with CSV. [contract 6.csv] */
export const Bom = Type.Boolean({
  description: 'Whether CSV begins with a byte order mark, which Excel needs to read it as UTF-8; default false.',
})

/** At most this many things can be named in the query of a list. */
export const maxListedIds = 200

/** A list of identifiers in the query of a list: after an event a client reads only the rows that it names. */
export const ListedIds = (noun: string) =>
  Type.String({
    description: `Only these ${noun}: up to ${maxListedIds} identifiers, separated by commas. Those that do not exist are left out.`,
  })

/** A time or a date. Handlers get the text of a date, and know in which time zone the day is meant. */
export const QueryTimeOrDay = (description: string) =>
  Type.Unsafe<number | string>({ type: 'string', format: 'date-time', description, plainDays: true })
export const RequiredQueryTimeOrDay = (description: string) =>
  Type.Unsafe<number | string>({ ...QueryTimeOrDay(description), required: true }) as ReturnType<
    typeof QueryTimeOrDay
  > & { required: true }

/** A string that has one of these values. */
export const OneOf = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], description })

/** A shape with a name of its own in the OpenAPI document: the interface's type names. */
export const Shape = <P extends TProperties>(title: string, properties: P, options: object = {}) =>
  Type.Object(properties, { title, ...options })

/** "Generic object": nothing to say. [contract 1.2] */
export const Empty = Shape('genericObject', {})

export const ListOf = <K extends string, S extends TSchema>(title: string, key: K, item: S) =>
  Type.Object({ [key]: Type.Array(item) } as Record<K, ReturnType<typeof Type.Array<S>>>, { title })

export const IdAndName = (title: string, noun: string) =>
  Shape(title, { id: Int32(`Identifier of the ${noun}.`), name: Type.String({ description: `Name of the ${noun}.` }) })

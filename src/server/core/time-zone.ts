// Time zones: which there are, and where the calendar days of one begin. Exact, and fast enough for years of days in a request.

const day = 86_400
/** Days whose changes of the clock are looked up together. */
const blockLength = 512 * day
/** Anybody may ask for any zone and any year: older knowledge makes room. */
const mostZones = 64
const mostBlocks = 64

/** A time in which the clocks of a zone are not set; Unix seconds. */
interface Stretch {
  readonly from: number
  readonly until: number
  /** Seconds that local time is ahead of UTC. */
  readonly offset: number
}

/** What Intl says costs a microsecond, so it is asked once for each day, and then only remembered. */
class Calendar {
  readonly name: string
  readonly #format: Intl.DateTimeFormat
  readonly #blocks = new Map<number, readonly Stretch[]>()

  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    this.name = this.#format.resolvedOptions().timeZone
  }

  dayOf(seconds: number): number {
    const stretches = this.#around(seconds)
    let at = 0
    while (at < stretches.length - 1 && seconds >= (stretches[at] as Stretch).until) at++
    return Math.floor((seconds + (stretches[at] as Stretch).offset) / day)
  }

  startOfDay(number: number): number {
    const local = number * day
    // No clock is a whole day ahead of UTC: what is looked for cannot be earlier.
    let stretches = this.#around(local - day)
    for (;;) {
      for (const { from, until, offset } of stretches) {
        // Where the clocks were set forward over midnight, the day begins when they were set.
        const start = Math.max(from, local - offset)
        if (start < until) return start
      }
      stretches = this.#around((stretches.at(-1) as Stretch).until)
    }
  }

  #around(seconds: number): readonly Stretch[] {
    const number = Math.floor(seconds / blockLength)
    const known = this.#blocks.get(number)
    if (known) return known
    const block = this.#look(number * blockLength)
    keep(this.#blocks, number, block, mostBlocks)
    return block
  }

  #look(from: number): Stretch[] {
    const until = from + blockLength
    const changes = [{ at: from, offset: this.#offsetAt(from) }]
    for (let at = from; at < until; at += day) this.#changesBetween(at, Math.min(at + day, until - 1), changes)
    return changes.map(({ at, offset }, i) => ({ from: at, until: changes[i + 1]?.at ?? until, offset }))
  }

  /** Halves the time until each change stands between two seconds. */
  #changesBetween(from: number, to: number, changes: { at: number; offset: number }[]): void {
    const after = this.#offsetAt(to)
    if (changes.at(-1)?.offset === after) return
    if (to - from === 1) return void changes.push({ at: to, offset: after })
    const middle = Math.floor((from + to) / 2)
    this.#changesBetween(from, middle, changes)
    this.#changesBetween(middle, to, changes)
  }

  /** From "1/1/2026, GMT+05:45". */
  #offsetAt(seconds: number): number {
    const said = this.#format.format(seconds * 1000)
    const [, sign, hours = 0, minutes = 0, rest = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(said) ?? []
    const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(rest)
    return sign === '-' ? -offset : offset
  }
}

function keep<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size < most) break
    map.delete(oldest)
  }
  map.set(key, value)
}

const calendars = new Map<string, Calendar>()

function calendarOf(zone: string): Calendar {
  const known = calendars.get(zone)
  if (known) return known
  const calendar = new Calendar(zone)
  keep(calendars, zone, calendar, mostZones)
  return calendar
}

/** Whether Intl has it; that is more than `isZone`. */
export function isIntlTimeZone(text: string): boolean {
  try {
    calendarOf(text)
    return true
  } catch {
    return false
  }
}

/** A zone whose days begin with a quarter of an hour. All places have that; an offset such as +05:17 has not. */
export function isTimeZone(text: string): boolean {
  if (!isIntlTimeZone(text)) return false
  const [, minutes = 0] = /^[+-]\d\d:(\d\d)$/.exec(nameOf(text)) ?? []
  return Number(minutes) % 15 === 0
}

/** What to tell who gave it, after the name of what is wrong. */
export const timeZoneProblem = (text: string): string | undefined =>
  isTimeZone(text)
    ? undefined
    : `must be a time zone such as Europe/Oslo, America/New_York, UTC or +05:45, not "${text}"`

const nameOf = (zone: string): string => calendarOf(zone).name

/** Whether two names stand for one zone, such as UTC and Etc/UTC. Both must be zones. */
export const isSameTimeZone = (a: string, b: string): boolean => a === b || nameOf(a) === nameOf(b)

/** The local calendar day of a time in Unix seconds, as the number of days since 1970-01-01. */
export const dayOf = (zone: string, seconds: number): number => calendarOf(zone).dayOf(seconds)

/**
 * The first time, in Unix seconds, whose local date is that day. A day that a zone left out (Apia, 2011-12-30) begins where
 * the next one does, so that every day ends where the next one begins.
 */
export const startOfDay = (zone: string, day: number): number => calendarOf(zone).startOfDay(day)

/** Such as 2026-03-29. `toISOString` would cost more than finding the day. */
export function dateOf(number: number): string {
  const date = new Date(number * day * 1000)
  return `${date.getUTCFullYear()}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`
}

const twoDigits = (number: number): string => (number < 10 ? `0${number}` : `${number}`)

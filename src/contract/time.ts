// Which texts are times and time zones. [contract 1.6]

/** RFC 3339 can express only these times; an offset must not lead outside of them. */
const [minTimeMs, maxTimeMs] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')] as const

const iso8601 =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d\d):?(\d\d)?)?)?$/

/** Accepts any ISO 8601 offset; none means UTC, and a space stands for an unescaped "+". Returns undefined for other texts. [contract 1.6] */
export function parseTime(text: string): number | undefined {
  const m = iso8601.exec(text.replace(' ', '+'))
  if (!m) return undefined
  const [year, month, day, hour, minute, second] = [m[1], m[2], m[3], m[4], m[5], m[6]].map((x) => Number(x ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const offsetMinutes = (Number(m[10] ?? 0) * 60 + Number(m[11] ?? 0)) * (m[9] === '-' ? -1 : 1)
  if (hour > 23 || minute > 59 || second > 59 || Number(m[10] ?? 0) > 23 || Number(m[11] ?? 0) > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const fractionMs = Math.floor(Number(`0.${m[7] ?? 0}`) * 1000)
  const at = date.getTime() + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + fractionMs
  return at >= minTimeMs && at <= maxTimeMs ? at : undefined
}

/** Whether the days of the zone begin with a quarter of an hour. All named zones do; an offset such as +05:17 does not. */
export function isTimeZone(text: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions()
    const [, minutes = 0] = /^[+-]\d\d:(\d\d)$/.exec(timeZone) ?? []
    return Number(minutes) % 15 === 0
  } catch {
    return false
  }
}

// Writes lists, numbers and times of the two largest answers, bulk samples and history, as JSON text. JSON.stringify would need an object for
// each sample or bucket, and those objects cost more than reading the rows.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { daySeconds } from '../../contract/durations.ts'
import { type ReadyAnswer, TextChunks } from '../context/answers.ts'
import { isoTime } from '../core/clock.ts'
import { slotSeconds } from '../core/time/slots.ts'
import { dateOf } from '../core/time/time-zone.ts'

/**
 * Joins parts into one flat string. A template would leave a tree of parts that every answer walks again: the bench row `bulk` then
 * takes 5x instead of 1x.
 */
export const flatText = (...parts: readonly string[]): string => parts.join('')

const decimals = (digits: number): readonly string[] =>
  Array.from({ length: 10 ** digits }, (_, i) =>
    (i / 10 ** digits)
      .toFixed(digits)
      .slice(1)
      .replace(/\.?0+$/, ''),
  )
const tenths = decimals(1)
const hundredths = decimals(2)

/** Most numbers are small, so their texts are prepared: the bench row `history`, 30 days of one endpoint, writes thousands of them. */
const small = Array.from({ length: 10_000 }, (_, i) => `${i}`)
export const wholeText = (value: number): string =>
  value >= 0 && value < small.length ? (small[value] as string) : `${value}`

/** A stored integer in the unit of the contract. */
export const scaledText = (value: number, scale: number): string => {
  if (scale === 1) return wholeText(value)
  return value < 0 ? `-${scaledText(-value, scale)}` : `${wholeText(Math.trunc(value / 10))}${tenths[value % 10]}`
}

/** Rounded to two decimals, a half upwards. [contract D.37] */
export const meanText = (sum: number, count: number, scale: number): string => {
  const hundred = Math.round((sum * 100) / (count * scale))
  const positive = Math.abs(hundred)
  return `${hundred < 0 ? '-' : ''}${wholeText(Math.trunc(positive / 100))}${hundredths[positive % 100]}`
}

const timesOfDay = Array.from({ length: daySeconds / slotSeconds }, (_, i) => isoTime(i * slotSeconds * 1000).slice(10))

/** Writes times that are multiples of five minutes. Times of one day share the text of its date. */
export function slotTimeWriter(): (seconds: number) => string {
  let [day, date] = [Number.NaN, '']
  return (seconds) => {
    const number = Math.floor(seconds / daySeconds)
    if (number !== day) [day, date] = [number, dateOf(number)]
    return date + timesOfDay[(seconds - number * daySeconds) / slotSeconds]
  }
}

/** Entries that are written in one piece of some tens of kilobytes. */
const entriesPerChunk = 300
/** Other work can run after each turn of this length. */
const maxTurnMs = 2

/** Writes an answer `{"data":[…]}` from the JSON text of each item, and lets other work run in between. */
export async function dataListAnswer<T>(items: readonly T[], textOf: (item: T) => string): Promise<ReadyAnswer> {
  const answer = new TextChunks()
  answer.add('{"data":[')
  let started = performance.now()
  for (let at = 0; at < items.length; at += entriesPerChunk) {
    if (performance.now() - started > maxTurnMs) {
      await nextTurn()
      started = performance.now()
    }
    const text = items
      .slice(at, at + entriesPerChunk)
      .map(textOf)
      .join()
    answer.add(at === 0 ? text : `,${text}`)
  }
  answer.add(']}')
  return answer.end()
}

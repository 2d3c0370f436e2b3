// Checks texts that people write, shortens them, and puts them into commands. [contract 1.10] [contract D.1]
import { maxNameLength } from '../../contract/shape.ts'

const control = /\p{Cc}/u
/** A newline may be written with a carriage return before it. [contract D.18] */
const controlButNewlineAndTab = /[^\P{Cc}\n\r\t]|\r(?!\n)/u

/** Returns why a text cannot be stored, as the end of a sentence, or undefined if it can. */
export function textProblem(text: string, mayHaveLines: boolean): string | undefined {
  if ((mayHaveLines ? controlButNewlineAndTab : control).test(text)) return 'must not hold control characters'
  if (!text.isWellFormed()) return 'must be well-formed text: it holds half of a surrogate pair'
  return undefined
}

/** Checks a name that does not come through the API, including its length. */
export function nameProblem(name: string): string | undefined {
  const length = [...name.trim()].length
  if (length < 1 || length > maxNameLength) return `must have 1 to ${maxNameLength} characters`
  return textProblem(name, false)
}

/** Addresses that differ in case only are the same. [contract D.2] */
export const emailKey = (email: string): string => email.normalize('NFC').toLowerCase()

/** A text as one word of a shell command, quoted if the shell would read it otherwise. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** Cuts a text to a number of code points, with an ellipsis as the last. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text
  const points = [...text]
  return points.length <= max ? text : `${points.slice(0, max - 1).join('')}…`
}

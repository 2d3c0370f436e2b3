// Checks names, shortens texts, and puts them into commands. [contract 1.10] [contract D.1]
import { maxNameLength } from '../../contract/shape.ts'
import { textProblem } from '../../contract/text.ts'

/** Checks a name that does not come through the API, including its length. */
export function nameProblem(name: string): string | undefined {
  const length = [...name.trim()].length
  if (length < 1 || length > maxNameLength) return `must have 1 to ${maxNameLength} characters`
  return textProblem(name, false)
}

/** A text as one word of a shell command, quoted if the shell would read it otherwise. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** Cuts a text to a number of code points, with an ellipsis as the last. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text
  const points = [...text]
  return points.length <= max ? text : `${points.slice(0, max - 1).join('')}…`
}

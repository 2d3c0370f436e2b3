// Which texts the service stores, and which of them it takes for equal. [contract 1.10] [contract D.1]

const control = /\p{Cc}/u
/** A newline may be written with a carriage return before it. [contract D.18] */
const controlButNewlineAndTab = /[^\P{Cc}\n\r\t]|\r(?!\n)/u

/** Returns why a text cannot be stored, as the end of a sentence, or undefined if it can. */
export function textProblem(text: string, mayHaveLines: boolean): string | undefined {
  if ((mayHaveLines ? controlButNewlineAndTab : control).test(text)) return 'must not hold control characters'
  if (!text.isWellFormed()) return 'must be well-formed text: it holds half of a surrogate pair'
  return undefined
}

/** Addresses that differ in case only are the same. [contract D.2] */
export const emailKey = (email: string): string => email.normalize('NFC').toLowerCase()

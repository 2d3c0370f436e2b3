// The name of an operation on the command line: a noun and a verb.
import type { Operation } from '../../contract/operation.ts'

export interface CommandName {
  readonly noun: string
  readonly verb: string
}

/**
 * The noun of an id ends with its first plural, and else with its first word: roomNotesList is `room-notes list`, meGet is `me get`.
 * An operation whose name would be awkward has one in the table.
 */
export function commandNameOf({ id, command }: Pick<Operation, 'command'> & { readonly id: string }): CommandName {
  const words = wordsOf(id)
  const plural = words.findIndex((word) => word.endsWith('s'))
  const nounLength = plural < 0 ? 1 : plural + 1
  const derived = `${words.slice(0, nounLength).join('-')} ${words.slice(nounLength).join('-')}`
  const [noun = '', verb = ''] = (command ?? derived).split(' ')
  return { noun, verb }
}

/** `regionId` is `region-id`. */
export const kebab = (name: string): string => wordsOf(name).join('-')

const wordsOf = (name: string): string[] =>
  name
    .split(/(?=[A-Z])/)
    .map((word) => word.toLowerCase())
    .filter((word) => word !== '')

// Names a job that has no name of its own after its action, and after the rows that were selected for it.
import { maxNameLength } from '../../../contract/shape.ts'

const separator = ' · '
const maxSubjectLength = maxNameLength / 2

/** "Restart · 3 rooms in Boston Seaport". What does not fit is cut from the end of the action; the subject has half of the name at most. */
export function jobNameOf(action: string, subject = ''): string {
  if (subject === '') return shortened(action, maxNameLength)
  const rows = `${separator}${shortened(subject, maxSubjectLength)}`
  return `${shortened(action, maxNameLength - [...rows].length)}${rows}`
}

/** A name has one line, and its length is counted in characters. */
function shortened(text: string, maxLength: number): string {
  const characters = [...text.replaceAll(/\s+/g, ' ').trim()]
  return characters.length <= maxLength
    ? characters.join('')
    : `${characters
        .slice(0, maxLength - 1)
        .join('')
        .trimEnd()}…`
}

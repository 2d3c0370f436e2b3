// Changes as two sides of a diff. A password is on them only as what happens to it.
import { type Changes, withChanges } from './draft.ts'
import { isSecret, newSecret, type Settings, unknownSecret } from './meaning.ts'

interface Sides {
  readonly before: Readonly<Record<string, unknown>>
  readonly after: Readonly<Record<string, unknown>>
}

/** Both sides have every changed key, in the order in which they were changed. */
export function sidesOf(stored: Settings, changes: Changes): Sides {
  const later = withChanges(stored, changes)
  const names = Object.keys(changes)
  const side = (settings: Settings, secretOf: (name: string) => string | undefined) =>
    Object.fromEntries(names.map((name) => [name, isSecret(name) ? secretOf(name) : settings[name]]))
  return {
    before: side(stored, () => unknownSecret),
    after: side(later, (name) => (changes[name] === null ? undefined : newSecret)),
  }
}

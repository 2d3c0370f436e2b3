// Converts a profile to one flat draft, with its name and description beside its settings, and back.

import { maxNameLength } from '../../../contract/shape.ts'
import { type Errors, problemsOf, textProblem } from '../../parts/settings-form/check.ts'
import { type Changes, withChanges } from '../../parts/settings-form/draft.ts'
import { isSecret, type Settings } from '../../parts/settings-form/meaning.ts'

interface ProfileText {
  readonly name: string
  readonly description?: string | undefined
}

export const draftOfProfile = ({ name, description }: ProfileText, config: Settings): Settings => ({
  name,
  ...(description !== undefined && { description }),
  ...config,
})

/** The body has the whole config, because it replaces the stored one. Passwords that are absent stay as they are. */
export function profileBody(stored: Settings, changes: Changes) {
  const { name = '', description, ...config } = withChanges(stored, changes)
  const secrets = Object.fromEntries(Object.entries(changes).filter(([key]) => isSecret(key)))
  return {
    name: String(name),
    description: description === undefined ? null : String(description),
    config: { ...config, ...secrets },
  }
}

export const draftConfig = ({ name: _, description: __, ...config }: Settings): Settings => config

const maxDescriptionLength = 1024

export function profileProblems(stored: Settings, changes: Changes): Errors {
  const { name = '', description } = withChanges(stored, changes)
  const nameProblem = name === '' ? 'Enter a name.' : textProblem(String(name), maxNameLength)
  const descriptionProblem =
    description === undefined ? undefined : textProblem(String(description), maxDescriptionLength, true)
  return {
    ...problemsOf(changes),
    ...(nameProblem && { name: nameProblem }),
    ...(descriptionProblem && { description: descriptionProblem }),
  }
}

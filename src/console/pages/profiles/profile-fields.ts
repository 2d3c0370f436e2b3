// A profile as one flat draft: its name and description beside the settings that it fixes.

import { longestName } from '../../../contract/shape.ts'
import { type Changes, withChanges } from '../../parts/settings-form/draft.ts'
import { isSecret, type Settings } from '../../parts/settings-form/setting-values.ts'
import { type Errors, problemsOf, textProblem } from '../../parts/settings-form/validation.ts'

interface Profile {
  readonly name: string
  readonly description?: string | undefined
}

export const asDraft = ({ name, description }: Profile, config: Settings): Settings => ({
  name,
  ...(description !== undefined && { description }),
  ...config,
})

/** What the service is sent: the whole config, because it replaces the one before. Absent passwords are kept. */
export function asBody(stored: Settings, changes: Changes) {
  const { name = '', description, ...config } = withChanges(stored, changes)
  const secrets = Object.fromEntries(Object.entries(changes).filter(([key]) => isSecret(key)))
  return {
    name: String(name),
    description: description === undefined ? null : String(description),
    config: { ...config, ...secrets },
  }
}

export const configOf = ({ name: _, description: __, ...config }: Settings): Settings => config

const longestDescription = 1024

export function profileProblems(stored: Settings, changes: Changes): Errors {
  const { name = '', description } = withChanges(stored, changes)
  const nameProblem = name === '' ? 'Give the profile a name.' : textProblem(String(name), longestName)
  const descriptionProblem =
    description === undefined ? undefined : textProblem(String(description), longestDescription, true)
  return {
    ...problemsOf(changes),
    ...(nameProblem && { name: nameProblem }),
    ...(descriptionProblem && { description: descriptionProblem }),
  }
}

// A profile as one flat draft: its name and description beside the settings that it fixes.

import { longestName } from '../../../contract/shape.ts'
import { type SettingChanges, withChanges } from '../../parts/settings-form/draft.ts'
import { isSecret, type SettingValues } from '../../parts/settings-form/setting-values.ts'
import { type FieldErrors, settingProblems, textInputProblem } from '../../parts/settings-form/validation.ts'

interface Profile {
  readonly name: string
  readonly description?: string | undefined
}

export const asDraft = ({ name, description }: Profile, config: SettingValues): SettingValues => ({
  name,
  ...(description !== undefined && { description }),
  ...config,
})

/** What the service is sent: the whole config, because it replaces the one before. Absent passwords are kept. */
export function asBody(stored: SettingValues, changes: SettingChanges) {
  const { name = '', description, ...config } = withChanges(stored, changes)
  const secrets = Object.fromEntries(Object.entries(changes).filter(([key]) => isSecret(key)))
  return {
    name: String(name),
    description: description === undefined ? null : String(description),
    config: { ...config, ...secrets },
  }
}

export const configOf = ({ name: _, description: __, ...config }: SettingValues): SettingValues => config

const longestDescription = 1024

export function profileProblems(stored: SettingValues, changes: SettingChanges): FieldErrors {
  const { name = '', description } = withChanges(stored, changes)
  const nameProblem = name === '' ? 'Give the profile a name.' : textInputProblem(String(name), longestName)
  const descriptionProblem =
    description === undefined ? undefined : textInputProblem(String(description), longestDescription, true)
  return {
    ...settingProblems(changes),
    ...(nameProblem && { name: nameProblem }),
    ...(descriptionProblem && { description: descriptionProblem }),
  }
}

// Converts a profile to one flat draft, with its name and description beside its settings, and back.

import { maxNameLength } from '../../../contract/shape.ts'
import { type SettingChanges, withChanges } from '../../parts/settings-form/draft.ts'
import { isSecret, type SettingValues } from '../../parts/settings-form/setting-values.ts'
import { type FieldErrors, settingProblems, textInputProblem } from '../../parts/settings-form/validation.ts'

interface ProfileText {
  readonly name: string
  readonly description?: string | undefined
}

export const draftOfProfile = ({ name, description }: ProfileText, config: SettingValues): SettingValues => ({
  name,
  ...(description !== undefined && { description }),
  ...config,
})

/** The body has the whole config, because it replaces the stored one. Passwords that are absent stay as they are. */
export function profileBody(stored: SettingValues, changes: SettingChanges) {
  const { name = '', description, ...config } = withChanges(stored, changes)
  const secrets = Object.fromEntries(Object.entries(changes).filter(([key]) => isSecret(key)))
  return {
    name: String(name),
    description: description === undefined ? null : String(description),
    config: { ...config, ...secrets },
  }
}

export const draftConfig = ({ name: _, description: __, ...config }: SettingValues): SettingValues => config

const maxDescriptionLength = 1024

export function profileProblems(stored: SettingValues, changes: SettingChanges): FieldErrors {
  const { name = '', description } = withChanges(stored, changes)
  const nameProblem = name === '' ? 'Enter a name.' : textInputProblem(String(name), maxNameLength)
  const descriptionProblem =
    description === undefined ? undefined : textInputProblem(String(description), maxDescriptionLength, true)
  return {
    ...settingProblems(changes),
    ...(nameProblem && { name: nameProblem }),
    ...(descriptionProblem && { description: descriptionProblem }),
  }
}

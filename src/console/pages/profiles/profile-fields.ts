// Converts a profile to one flat draft, with its name, description and external id beside its settings, and back.

import { maxExternalIdLength } from '../../../contract/fleet/custom-fields.ts'
import { maxNameLength } from '../../../contract/shape.ts'
import { type SettingChanges, withChanges } from '../../parts/settings-form/draft.ts'
import { isSecret, type SettingValues } from '../../parts/settings-form/setting-values.ts'
import { type FieldErrors, settingProblems, textInputProblem } from '../../parts/settings-form/validation.ts'

interface ProfileText {
  readonly name: string
  readonly description?: string | undefined
  readonly externalId?: string | undefined
}

/** Versions have no external id. */
export const draftOfProfile = (
  { name, description, externalId }: ProfileText,
  config: SettingValues,
): SettingValues => ({
  name,
  ...(description !== undefined && { description }),
  ...(externalId !== undefined && { externalId }),
  ...config,
})

/** The body has the whole config, because it replaces the stored one. Passwords that are absent stay as they are. */
export function profileBody(stored: SettingValues, changes: SettingChanges) {
  const { name = '', description, externalId, ...config } = withChanges(stored, changes)
  const secrets = Object.fromEntries(Object.entries(changes).filter(([key]) => isSecret(key)))
  return {
    name: String(name),
    description: description === undefined ? null : String(description),
    externalId: externalId === undefined ? null : String(externalId),
    config: { ...config, ...secrets },
  }
}

export const draftConfig = ({ name: _, description: __, externalId: ___, ...config }: SettingValues): SettingValues =>
  config

const maxDescriptionLength = 1024

export function profileProblems(stored: SettingValues, changes: SettingChanges): FieldErrors {
  const { name = '', description, externalId } = withChanges(stored, changes)
  const nameProblem = name === '' ? 'Enter a name.' : textInputProblem(String(name), maxNameLength)
  const descriptionProblem =
    description === undefined ? undefined : textInputProblem(String(description), maxDescriptionLength, true)
  const externalIdProblem =
    externalId === undefined ? undefined : textInputProblem(String(externalId), maxExternalIdLength)
  return {
    ...settingProblems(changes),
    ...(nameProblem && { name: nameProblem }),
    ...(descriptionProblem && { description: descriptionProblem }),
    ...(externalIdProblem && { externalId: externalIdProblem }),
  }
}

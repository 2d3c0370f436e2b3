// The fields of a profile that people set: their columns, and what requests, answers and the audit log make of them.
import type { Selectable } from 'kysely'
import { VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { isoTime } from '../../core/clock.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'
import { differences, maskedConfig, type SealedConfig, shownConfig } from '../configs/sealed-config.ts'

/** Each version of a profile has a copy of these columns. */
export const profileFieldColumns = ['name', 'description', 'config', 'secrets'] as const
export type ProfileValues = Pick<DatabaseSchema['profiles'], (typeof profileFieldColumns)[number]>
export type ProfileRow = Omit<Selectable<DatabaseSchema['profiles']>, 'org'>
export type ProfileVersionRow = Selectable<DatabaseSchema['profile_versions']>

/** The config and its passwords are sealed by the caller. */
export const profileValues = (body: InputOf<'profilesUpdate'>['body'], sealed: SealedConfig): ProfileValues => ({
  name: body.name,
  description: body.description || null,
  ...sealed,
})

/** The external id belongs to the profile, whatever its version. An absent one keeps what is stored. */
export const externalIdAfter = (
  body: InputOf<'profilesUpdate'>['body'],
  stored: Pick<ProfileRow, 'external_id'> = { external_id: null },
): string | null => (body.externalId === undefined ? stored.external_id : body.externalId)

/** `changedSecrets` are the passwords that the entry shows as changed. */
export const auditedProfile = new AuditedFields(
  (row: ProfileValues & Pick<ProfileRow, 'external_id'> & { changedSecrets?: readonly string[] }) => ({
    name: row.name,
    description: row.description,
    config: maskedConfig(row, row.changedSecrets ?? []),
    externalId: row.external_id,
  }),
  ['name', 'description', 'config'],
)

const shownFields = ({ name, description }: Pick<ProfileValues, 'name' | 'description'>) => ({
  name,
  ...(description !== null && { description }),
})

export const profileSummaryColumns = ['id', 'name', 'description', 'config_id', 'external_id'] as const
export const profileSummary = (row: Pick<ProfileRow, (typeof profileSummaryColumns)[number]>) => ({
  id: row.id,
  ...shownFields(row),
  configId: row.config_id,
  ...(row.external_id !== null && { externalId: row.external_id }),
})

export const profileAnswer = (row: ProfileRow) =>
  new VersionedAnswer(row.version, { profile: profileSummary(row), config: shownConfig(row) })

const emptyConfig: SealedConfig = { config: '{}', secrets: '{}' }

/** Profiles begin with version 1. Nothing is known before the first stored version of a profile from Roomkeeper 0.1. */
export const profileVersionView = (
  row: ProfileVersionRow,
  before: SealedConfig = row.version === 1 ? emptyConfig : row,
) => ({
  version: row.version,
  createdAt: isoTime(row.created_at),
  author: { type: row.author_type, id: row.author_id, name: row.author_name },
  ...shownFields(row),
  config: shownConfig(row),
  diff: differences(before, row),
})

// Edits the name, the description, the external id and the locked settings of a profile; changes are saved after a review.
import { Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { errorMessage, operationQuery, useWrite } from '../../api.ts'
import { refetchIfChanged } from '../../parts/dialog/concurrent-change.ts'
import { Section } from '../../parts/page/page.tsx'
import { diffSides, type SettingChanges, useDraft } from '../../parts/settings-form/draft.ts'
import { ConcurrentChangeNotice, ReviewDialog } from '../../parts/settings-form/review-dialog.tsx'
import { findConfigKey, type SettingValues } from '../../parts/settings-form/setting-values.ts'
import { SettingsForm } from '../../parts/settings-form/settings-form.tsx'
import { LeaveGuard, UnsavedBar } from '../../parts/settings-form/unsaved-changes.tsx'
import { type FieldErrors, serverViolations } from '../../parts/settings-form/validation.ts'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import { draftConfig, profileBody, profileProblems } from './profile-fields.ts'
import { savingText } from './reach-text.ts'

type Draft = ReturnType<typeof useDraft>

interface ProfileEditorProps {
  /** A new profile has no id. */
  readonly id: number | undefined
  readonly stored: SettingValues
  readonly etag: string | undefined
}

export function ProfileEditor({ id, stored, etag }: ProfileEditorProps) {
  const may = usePermissions()
  const draft = useDraft(stored, etag)
  const { changes } = draft
  const [isReviewing, setReviewing] = useState(false)
  const { create, update, save, serverErrors } = useSave(id, stored, draft, () => setReviewing(false))

  const isBusy = create.isPending || update.isPending
  const isStale = draft.isStale && !isBusy
  const count = Object.keys(changes).length
  const problems = useMemo(() => profileProblems(stored, changes), [stored, changes])
  const errors = useMemo<FieldErrors>(
    () => ({ ...serverErrors, ...(count > 0 && problems) }),
    [serverErrors, problems, count],
  )
  const config = useMemo(() => draftConfig(stored), [stored])
  const sides = useMemo(() => diffSides(stored, changes), [stored, changes])

  return (
    <Stack gap="md">
      {isStale && !isReviewing && <ConcurrentChangeNotice onContinue={draft.rebase} />}
      <Section title="Profile">
        {may.everywhere ? (
          <TextFields stored={stored} draft={draft} errors={errors} />
        ) : (
          <Text>{stored.description ?? 'No description'}</Text>
        )}
      </Section>
      <SettingsForm
        stored={config}
        changes={changes}
        errors={errors}
        onChange={may.everywhere ? draft.set : undefined}
        unset="Not managed"
        mayHaveSecret={id !== undefined}
        heading="Locked value"
      />
      <UnsavedBar
        count={isBusy && !isReviewing && id !== undefined ? 0 : count}
        invalidCount={Object.keys(problems).length}
        verb={id === undefined ? 'Create profile' : 'Review and save'}
        isBusy={create.isPending}
        error={create.error && errorMessage(create.error)}
        onReview={() => {
          update.reset()
          if (id === undefined) void save()
          else setReviewing(true)
        }}
        onDiscard={draft.discard}
      />
      <ReviewDialog
        opened={isReviewing}
        onClose={() => setReviewing(false)}
        title={`Save ${plural(count, 'change')} to ${stored.name ?? ''}?`}
        before={sides.before}
        after={sides.after}
        verb="Save"
        isBusy={update.isPending}
        error={update.error}
        onConfirm={() => void save()}
        onContinue={isStale ? draft.rebase : undefined}
      >
        {id !== undefined && <SavingEffect id={id} changes={changes} />}
      </ReviewDialog>
      <LeaveGuard count={isBusy ? 0 : count} what="this profile" />
    </Stack>
  )
}

/** Says how many devices change. A new name, description or external id changes none. */
function SavingEffect({ id, changes }: { readonly id: number; readonly changes: SettingChanges }) {
  const reach = useQuery(operationQuery('profilesReach', { id })).data?.body
  const changesSettings = Object.keys(changes).some((name) => findConfigKey(name) !== undefined)
  if (!changesSettings) return 'No setting changes, so devices keep what they have.'
  return reach ? savingText(reach) : 'Counting the devices with this profile…'
}

/** Creates or updates the profile. The server's errors stay at their fields until the values change. */
function useSave(id: number | undefined, stored: SettingValues, draft: Draft, onUpdated: () => void) {
  const navigate = useNavigate()
  const { changes } = draft
  const [failure, setFailure] = useState<{ changes: SettingChanges; error: unknown }>()
  const create = useWrite('profilesCreate', { quiet: true })
  const update = useWrite('profilesUpdate', { quiet: true, successText: 'Profile saved', onDone: onUpdated })
  const save = async () => {
    const sent = changes
    const body = profileBody(stored, sent)
    try {
      if (id === undefined) {
        const { profile } = await create.mutateAsync({ input: { body } })
        const params = { profileId: String(profile.id) }
        await navigate({ to: '/profiles/$profileId', params, replace: true, ignoreBlocker: true })
      } else {
        await update.mutateAsync({ input: { id, body }, ifMatch: draft.etag })
        draft.forgetSent(sent)
      }
    } catch (error) {
      setFailure({ changes: sent, error })
      await refetchIfChanged(error)
    }
  }
  const serverErrors = useMemo(() => {
    const isUnchanged = (name: string) => failure?.changes[name] === changes[name]
    return Object.fromEntries(Object.entries(serverViolations(failure?.error)).filter(([name]) => isUnchanged(name)))
  }, [failure, changes])
  return { create, update, save, serverErrors }
}

interface TextFieldsProps {
  readonly stored: SettingValues
  readonly draft: Draft
  readonly errors: FieldErrors
}

function TextFields({ stored, draft: { changes, set }, errors }: TextFieldsProps) {
  const fieldValue = (name: string) => String(name in changes ? (changes[name] ?? '') : (stored[name] ?? ''))
  return (
    <Stack gap="sm" maw={640}>
      <TextInput
        label="Name"
        required
        value={fieldValue('name')}
        onChange={(event) => set('name', event.currentTarget.value)}
        error={errors.name}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxRows={6}
        value={fieldValue('description')}
        onChange={(event) => set('description', event.currentTarget.value || null)}
        error={errors.description}
      />
      <TextInput
        label="External ID"
        description="Its key in another system. Optional."
        value={fieldValue('externalId')}
        onChange={(event) => set('externalId', event.currentTarget.value || null)}
        error={errors.externalId}
      />
    </Stack>
  )
}

// The form of a profile: name, description and settings, saved after a look at the diff.
import { Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { errorMessage, useWrite } from '../../api.ts'
import { refetchIfChanged } from '../../parts/dialog/concurrent-change.ts'
import { Section } from '../../parts/page/page.tsx'
import { diffSides, type SettingChanges, useDraft } from '../../parts/settings-form/draft.ts'
import { ConcurrentChangeNotice, ReviewDialog } from '../../parts/settings-form/review-dialog.tsx'
import type { SettingValues } from '../../parts/settings-form/setting-values.ts'
import { SettingsForm } from '../../parts/settings-form/settings-form.tsx'
import { LeaveGuard, UnsavedBar } from '../../parts/settings-form/unsaved-changes.tsx'
import { type FieldErrors, serverViolations } from '../../parts/settings-form/validation.ts'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import { asBody, configOf, profileProblems } from './profile-fields.ts'

interface ProfileEditorProps {
  /** Undefined: it does not exist yet. */
  readonly id: number | undefined
  readonly stored: SettingValues
  readonly etag: string | undefined
}

export function ProfileEditor({ id, stored, etag }: ProfileEditorProps) {
  const may = usePermissions()
  const navigate = useNavigate()
  const draft = useDraft(stored, etag)
  const { changes } = draft
  const [isReviewing, setReviewing] = useState(false)
  const [refused, setRefused] = useState<{ changes: SettingChanges; error: unknown }>()

  const create = useWrite('profilesCreate', { quiet: true })
  const update = useWrite('profilesUpdate', {
    quiet: true,
    successText: 'The profile was saved.',
    onDone: () => setReviewing(false),
  })
  const isBusy = create.isPending || update.isPending
  const failed = (error: unknown) => setRefused({ changes, error })

  const save = async () => {
    const sent = changes
    const body = asBody(stored, sent)
    try {
      if (id === undefined) {
        const { profile } = await create.mutateAsync({ input: { body } })
        await navigate({
          to: '/profiles/$profileId',
          params: { profileId: String(profile.id) },
          replace: true,
          ignoreBlocker: true,
        })
      } else {
        await update.mutateAsync({ input: { id, body }, ifMatch: draft.etag })
        draft.forgetSent(sent)
      }
    } catch (error) {
      failed(error)
      await refetchIfChanged(error)
    }
  }

  const count = Object.keys(changes).length
  const problems = useMemo(() => profileProblems(stored, changes), [stored, changes])
  const errors = useMemo<FieldErrors>(() => {
    const said = Object.entries(serverViolations(refused?.error)).filter(
      ([name]) => refused?.changes[name] === changes[name],
    )
    return { ...Object.fromEntries(said), ...(count > 0 && problems) }
  }, [refused, changes, problems, count])
  const isStale = draft.isStale && !isBusy
  const config = useMemo(() => configOf(stored), [stored])
  const sides = useMemo(() => diffSides(stored, changes), [stored, changes])
  const field = (name: string) => String(name in changes ? (changes[name] ?? '') : (stored[name] ?? ''))

  return (
    <Stack gap="md">
      {isStale && !isReviewing && <ConcurrentChangeNotice onContinue={draft.rebase} />}
      <Section title="Profile">
        {may.write ? (
          <Stack gap="sm" maw={640}>
            <TextInput
              label="Name"
              required
              value={field('name')}
              onChange={(event) => draft.set('name', event.currentTarget.value)}
              error={errors.name}
            />
            <Textarea
              label="What it is for"
              autosize
              minRows={2}
              maxRows={6}
              value={field('description')}
              onChange={(event) => draft.set('description', event.currentTarget.value || null)}
              error={errors.description}
            />
          </Stack>
        ) : (
          <Text>{stored.description ?? 'Nobody has written what it is for.'}</Text>
        )}
      </Section>
      <SettingsForm
        stored={config}
        changes={changes}
        errors={errors}
        onChange={may.write ? draft.set : undefined}
        unset="Left to the device"
        mayHaveSecret={id !== undefined}
        heading="Fixed by this profile"
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
        title={`${plural(count, 'change')} of the profile ${stored.name ?? ''}`}
        before={sides.before}
        after={sides.after}
        verb="Save"
        isBusy={update.isPending}
        error={update.error}
        onConfirm={() => void save()}
        onContinue={isStale ? draft.rebase : undefined}
      >
        When settings change, every device with this profile gets them at once. Devices that are offline get them when
        they come back.
      </ReviewDialog>
      <LeaveGuard count={isBusy ? 0 : count} what="this profile" />
    </Stack>
  )
}

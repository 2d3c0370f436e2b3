// Edits the name, the description and the locked settings of a profile; changes are saved after a review.
import { Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { sentenceOf, useWrite } from '../../api.ts'
import { lookAgainIfChanged } from '../../parts/dialog/concurrent-change.ts'
import { Section } from '../../parts/page/page.tsx'
import { type Errors, violationsOf } from '../../parts/settings-form/check.ts'
import { type Changes, useDraft } from '../../parts/settings-form/draft.ts'
import { ConfigForm } from '../../parts/settings-form/form.tsx'
import type { Settings } from '../../parts/settings-form/meaning.ts'
import { MovedOn, Review } from '../../parts/settings-form/review.tsx'
import { sidesOf } from '../../parts/settings-form/sides.ts'
import { LeaveGuard, UnsavedBar } from '../../parts/settings-form/unsaved.tsx'
import { plural } from '../../parts/text/words.ts'
import { useMay } from '../../session.ts'
import { draftConfig, profileBody, profileProblems } from './profile-fields.ts'

type Draft = ReturnType<typeof useDraft>

interface ProfileEditorProps {
  /** A new profile has no id. */
  readonly id: number | undefined
  readonly stored: Settings
  readonly etag: string | undefined
}

export function ProfileEditor({ id, stored, etag }: ProfileEditorProps) {
  const may = useMay()
  const draft = useDraft(stored, etag)
  const { changes } = draft
  const [isReviewing, setReviewing] = useState(false)
  const { create, update, save, serverErrors } = useSave(id, stored, draft, () => setReviewing(false))

  const isBusy = create.isPending || update.isPending
  const isStale = draft.isStale && !isBusy
  const count = Object.keys(changes).length
  const problems = useMemo(() => profileProblems(stored, changes), [stored, changes])
  const errors = useMemo<Errors>(
    () => ({ ...serverErrors, ...(count > 0 && problems) }),
    [serverErrors, problems, count],
  )
  const config = useMemo(() => draftConfig(stored), [stored])
  const sides = useMemo(() => sidesOf(stored, changes), [stored, changes])

  return (
    <Stack gap="md">
      {isStale && !isReviewing && <MovedOn onLookAgain={draft.rebase} />}
      <Section title="Profile">
        {may.write ? (
          <TextFields stored={stored} draft={draft} errors={errors} />
        ) : (
          <Text>{stored.description ?? 'No description'}</Text>
        )}
      </Section>
      <ConfigForm
        stored={config}
        changes={changes}
        errors={errors}
        onChange={may.write ? draft.set : undefined}
        unset="Not managed"
        mayHaveSecret={id !== undefined}
        heading="Locked value"
      />
      <UnsavedBar
        count={isBusy && !isReviewing && id !== undefined ? 0 : count}
        wrongCount={Object.keys(problems).length}
        verb={id === undefined ? 'Create profile' : 'Review and save'}
        isBusy={create.isPending}
        error={create.error && sentenceOf(create.error)}
        onReview={() => {
          update.reset()
          if (id === undefined) void save()
          else setReviewing(true)
        }}
        onDiscard={draft.discard}
      />
      <Review
        opened={isReviewing}
        onClose={() => setReviewing(false)}
        title={`Save ${plural(count, 'change')} to ${stored.name ?? ''}?`}
        before={sides.before}
        after={sides.after}
        verb="Save"
        isBusy={update.isPending}
        error={update.error}
        onConfirm={() => void save()}
        onLookAgain={isStale ? draft.rebase : undefined}
      >
        Devices with this profile apply the changed settings immediately, offline devices when they reconnect.
      </Review>
      <LeaveGuard count={isBusy ? 0 : count} what="this profile" />
    </Stack>
  )
}

/** Creates or updates the profile. The server's errors stay at their fields until the values change. */
function useSave(id: number | undefined, stored: Settings, draft: Draft, onUpdated: () => void) {
  const navigate = useNavigate()
  const { changes } = draft
  const [failure, setFailure] = useState<{ changes: Changes; error: unknown }>()
  const create = useWrite('profilesCreate', { quiet: true })
  const update = useWrite('profilesUpdate', { quiet: true, said: 'Profile saved', onDone: onUpdated })
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
        draft.sent(sent)
      }
    } catch (error) {
      setFailure({ changes: sent, error })
      await lookAgainIfChanged(error)
    }
  }
  const serverErrors = useMemo(() => {
    const isUnchanged = (name: string) => failure?.changes[name] === changes[name]
    return Object.fromEntries(Object.entries(violationsOf(failure?.error)).filter(([name]) => isUnchanged(name)))
  }, [failure, changes])
  return { create, update, save, serverErrors }
}

interface TextFieldsProps {
  readonly stored: Settings
  readonly draft: Draft
  readonly errors: Errors
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
    </Stack>
  )
}

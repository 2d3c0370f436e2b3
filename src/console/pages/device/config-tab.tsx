// The settings of a device: what is desired, what the device reports, what its profile fixes; changed after a look at the diff.
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { configKeys } from '../../../contract/config-keys.ts'
import { ask, useAnswer, useBody, useWrite } from '../../api.ts'
import { deviceName } from '../../domain/device/device.ts'
import { lookAgainIfChanged } from '../../parts/dialog/concurrent-change.ts'
import { type Changes, sidesOf, useDraft } from '../../parts/settings-form/draft.ts'
import { MovedOn, Review } from '../../parts/settings-form/review-dialog.tsx'
import { isSecret, type Settings } from '../../parts/settings-form/setting-values.ts'
import { ConfigForm } from '../../parts/settings-form/settings-form.tsx'
import { LeaveGuard, UnsavedBar } from '../../parts/settings-form/unsaved-changes.tsx'
import { problemsOf, violationsOf } from '../../parts/settings-form/validation.ts'
import { plural } from '../../parts/text/words.ts'
import { useMay } from '../../session.ts'
import { ConfigProgress } from './config-progress.tsx'
import { ReadOnlySettings } from './config-read-only.tsx'

export function ConfigTab({ endpointId }: { readonly endpointId: string }) {
  const may = useMay()
  const device = useBody('endpointsGet', { id: endpointId })
  const { body: settings, etag } = useAnswer('endpointsSettings', { id: endpointId })
  const state = useBody('configStateGet', { id: endpointId })
  const profile = useProfileSentence(device.profileId)

  const stored = useMemo(() => settable(settings, state.desired, state.profile), [settings, state])
  const draft = useDraft(stored, etag)
  const { changes } = draft
  const [isReviewing, setReviewing] = useState(false)
  const [refused, setRefused] = useState<{ changes: Changes; error: unknown }>()
  const top = useRef<HTMLDivElement>(null)

  const apply = useWrite('endpointsApplyConfig', {
    quiet: true,
    onDone: () => {
      setReviewing(false)
      top.current?.scrollIntoView({ block: 'start' })
    },
  })
  const send = async () => {
    const sent = changes
    try {
      await apply.mutateAsync({ input: { id: endpointId, body: sent }, ifMatch: draft.etag })
      draft.sent(sent)
    } catch (error) {
      setRefused({ changes: sent, error })
      await lookAgainIfChanged(error)
    }
  }

  const problems = useMemo(() => problemsOf(changes), [changes])
  const errors = useMemo(() => ({ ...standing(refused, changes), ...problems }), [refused, changes, problems])
  const count = Object.keys(changes).length
  const isStale = draft.isStale && !apply.isPending
  const sides = useMemo(() => sidesOf(stored, changes), [stored, changes])
  const name = deviceName(device)
  const words = useMemo(
    () => ({ reported: state.reported, rejected: state.rejected, isPending: state.state === 'PENDING' }),
    [state],
  )

  return (
    <Stack gap="md">
      <div ref={top} style={{ scrollMarginTop: 72 }}>
        <ConfigProgress state={state} isConnected={device.connected} />
      </div>
      {isStale && !isReviewing && <MovedOn onLookAgain={draft.rebase} />}
      <ConfigForm
        stored={stored}
        changes={changes}
        errors={errors}
        onChange={may.write ? draft.set : undefined}
        unset="Not set"
        mayHaveSecret
        heading="Desired"
        fixed={state.profile}
        fixedBy={profile}
        device={words}
      />
      <ReadOnlySettings settings={settings} />
      <UnsavedBar
        count={apply.isPending && !isReviewing ? 0 : count}
        wrongCount={Object.keys(problems).length}
        verb="Review and apply"
        onReview={() => {
          apply.reset()
          setReviewing(true)
        }}
        onDiscard={draft.discard}
      />
      <Review
        opened={isReviewing}
        onClose={() => setReviewing(false)}
        title={`${plural(count, 'setting')} will change on ${name}`}
        before={sides.before}
        after={sides.after}
        verb="Apply"
        isBusy={apply.isPending}
        error={apply.error}
        onConfirm={() => void send()}
        onLookAgain={isStale ? draft.rebase : undefined}
      >
        {device.connected
          ? 'The device is connected and gets this at once.'
          : 'The device is offline. It gets this when it comes back.'}
      </Review>
      <LeaveGuard count={apply.isPending ? 0 : count} what={`the settings of ${name}`} />
    </Stack>
  )
}

/** What was set for the device itself, with its version; what its profile hides is only in the state. */
function settable(settings: Settings, desired: Settings, profile: Settings): Settings {
  const hidden = Object.entries(desired).filter(([name]) => Object.hasOwn(profile, name))
  const own = Object.entries(settings).filter(([name]) => Object.hasOwn(configKeys, name) && !isSecret(name))
  return Object.fromEntries([...hidden, ...own])
}

/** What the service said about a value stands at its field until the value is another. */
const standing = (refused: { changes: Changes; error: unknown } | undefined, changes: Changes) =>
  Object.fromEntries(
    Object.entries(violationsOf(refused?.error)).filter(
      ([name]) => Object.hasOwn(changes, name) && refused?.changes[name] === changes[name],
    ),
  )

function useProfileSentence(profileId: number | undefined) {
  const { data } = useQuery(ask('profilesList'))
  const name = data?.body.profiles.find(({ id }) => id === profileId)?.name
  return useMemo(
    () =>
      profileId === undefined ? (
        'Fixed by its profile.'
      ) : (
        <>
          Fixed by the profile{' '}
          <Link to="/profiles/$profileId" params={{ profileId: String(profileId) }}>
            {name ?? profileId}
          </Link>
          . Change it there.
        </>
      ),
    [profileId, name],
  )
}

// The settings of a device: what is desired, what the device reports, what its profile fixes; changed after a look at the diff.
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { configKeys } from '../../../contract/config-keys.ts'
import { operationQuery, useBody, useResponse, useWrite } from '../../api.ts'
import { deviceName } from '../../domain/device/device.ts'
import { refetchIfChanged } from '../../parts/dialog/concurrent-change.ts'
import { diffSides, type SettingChanges, useDraft } from '../../parts/settings-form/draft.ts'
import { ConcurrentChangeNotice, ReviewDialog } from '../../parts/settings-form/review-dialog.tsx'
import { isSecret, type SettingValues } from '../../parts/settings-form/setting-values.ts'
import { SettingsForm } from '../../parts/settings-form/settings-form.tsx'
import { LeaveGuard, UnsavedBar } from '../../parts/settings-form/unsaved-changes.tsx'
import { serverViolations, settingProblems } from '../../parts/settings-form/validation.ts'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import { ConfigProgress } from './config-progress.tsx'
import { ReadOnlySettings } from './config-read-only.tsx'

export function ConfigTab({ endpointId }: { readonly endpointId: string }) {
  const may = usePermissions()
  const device = useBody('endpointsGet', { id: endpointId })
  const { body: settings, etag } = useResponse('endpointsSettings', { id: endpointId })
  const state = useBody('configStateGet', { id: endpointId })
  const profile = useProfileSentence(device.profileId)

  const stored = useMemo(() => settable(settings, state.desired, state.profile), [settings, state])
  const draft = useDraft(stored, etag)
  const { changes } = draft
  const [isReviewing, setReviewing] = useState(false)
  const [refused, setRefused] = useState<{ changes: SettingChanges; error: unknown }>()
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
      draft.forgetSent(sent)
    } catch (error) {
      setRefused({ changes: sent, error })
      await refetchIfChanged(error)
    }
  }

  const problems = useMemo(() => settingProblems(changes), [changes])
  const errors = useMemo(() => ({ ...standing(refused, changes), ...problems }), [refused, changes, problems])
  const count = Object.keys(changes).length
  const isStale = draft.isStale && !apply.isPending
  const sides = useMemo(() => diffSides(stored, changes), [stored, changes])
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
      {isStale && !isReviewing && <ConcurrentChangeNotice onContinue={draft.rebase} />}
      <SettingsForm
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
        invalidCount={Object.keys(problems).length}
        verb="Review and apply"
        onReview={() => {
          apply.reset()
          setReviewing(true)
        }}
        onDiscard={draft.discard}
      />
      <ReviewDialog
        opened={isReviewing}
        onClose={() => setReviewing(false)}
        title={`${plural(count, 'setting')} will change on ${name}`}
        before={sides.before}
        after={sides.after}
        verb="Apply"
        isBusy={apply.isPending}
        error={apply.error}
        onConfirm={() => void send()}
        onContinue={isStale ? draft.rebase : undefined}
      >
        {device.connected
          ? 'The device is connected and gets this at once.'
          : 'The device is offline. It gets this when it comes back.'}
      </ReviewDialog>
      <LeaveGuard count={apply.isPending ? 0 : count} what={`the settings of ${name}`} />
    </Stack>
  )
}

/** What was set for the device itself, with its version; what its profile hides is only in the state. */
function settable(settings: SettingValues, desired: SettingValues, profile: SettingValues): SettingValues {
  const hidden = Object.entries(desired).filter(([name]) => Object.hasOwn(profile, name))
  const own = Object.entries(settings).filter(([name]) => Object.hasOwn(configKeys, name) && !isSecret(name))
  return Object.fromEntries([...hidden, ...own])
}

/** What the service said about a value stands at its field until the value is another. */
const standing = (refused: { changes: SettingChanges; error: unknown } | undefined, changes: SettingChanges) =>
  Object.fromEntries(
    Object.entries(serverViolations(refused?.error)).filter(
      ([name]) => Object.hasOwn(changes, name) && refused?.changes[name] === changes[name],
    ),
  )

function useProfileSentence(profileId: number | undefined) {
  const { data } = useQuery(operationQuery('profilesList'))
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

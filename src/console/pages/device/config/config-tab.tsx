// The settings tab shows set, reported and locked values of a device; changes are applied after a review.
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { operationQuery, useBody, useWrite } from '../../../api.ts'
import { deviceName } from '../../../domain/fleet/device/device.ts'
import { refetchIfChanged } from '../../../parts/dialog/concurrent-change.ts'
import { diffSides, type SettingChanges, useDraft } from '../../../parts/settings-form/draft.ts'
import { ConcurrentChangeNotice, ReviewDialog } from '../../../parts/settings-form/review-dialog.tsx'
import { SettingsForm } from '../../../parts/settings-form/settings-form.tsx'
import { LeaveGuard, UnsavedBar } from '../../../parts/settings-form/unsaved-changes.tsx'
import { serverViolations, settingProblems } from '../../../parts/settings-form/validation.ts'
import { plural } from '../../../parts/text/words.ts'
import { usePermissions } from '../../../session.ts'
import { configEtag } from './config-etag.ts'
import { ConfigProgress } from './config-progress.tsx'
import { ReadOnlySettings } from './config-read-only.tsx'

export function ConfigTab({ endpointId }: { readonly endpointId: string }) {
  const may = usePermissions()
  const device = useBody('endpointsGet', { id: endpointId })
  const settings = useBody('endpointsSettings', { id: endpointId })
  const state = useBody('configStateGet', { id: endpointId })
  const lockText = useLockText(device.profileId)

  // Only what was set here is edited. The settings also have values that the device merely reports.
  const stored = state.desired
  const draft = useDraft(stored, configEtag(state.version))
  const { changes } = draft
  const [isReviewing, setReviewing] = useState(false)
  const top = useRef<HTMLDivElement>(null)
  const { apply, send, serverErrors } = useApply(endpointId, draft, () => {
    setReviewing(false)
    top.current?.scrollIntoView({ block: 'start' })
  })

  const problems = useMemo(() => settingProblems(changes), [changes])
  const errors = useMemo(() => ({ ...serverErrors, ...problems }), [serverErrors, problems])
  const count = Object.keys(changes).length
  const isStale = draft.isStale && !apply.isPending
  const sides = useMemo(() => diffSides(stored, changes), [stored, changes])
  const name = deviceName(device)
  const reports = useMemo(
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
        heading="Value"
        locked={state.profile}
        lockedBy={lockText}
        device={reports}
        keys={device.configKeys}
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
          ? 'The device applies this immediately.'
          : 'The device is not connected and applies this when it reconnects.'}
      </ReviewDialog>
      <LeaveGuard count={apply.isPending ? 0 : count} what={`the settings of ${name}`} />
    </Stack>
  )
}

/** Sends the changes of a draft. The server's errors stay at their fields until the values change. */
function useApply(endpointId: string, draft: ReturnType<typeof useDraft>, onDone: () => void) {
  const { changes } = draft
  const [failure, setFailure] = useState<{ changes: SettingChanges; error: unknown }>()
  const apply = useWrite('endpointsApplyConfig', { quiet: true, onDone })
  const send = async () => {
    const sent = changes
    try {
      await apply.mutateAsync({ input: { id: endpointId, body: sent }, ifMatch: draft.etag })
      draft.forgetSent(sent)
    } catch (error) {
      setFailure({ changes: sent, error })
      await refetchIfChanged(error)
    }
  }
  const serverErrors = useMemo(() => {
    const isUnchanged = (name: string) => Object.hasOwn(changes, name) && failure?.changes[name] === changes[name]
    return Object.fromEntries(Object.entries(serverViolations(failure?.error)).filter(([name]) => isUnchanged(name)))
  }, [failure, changes])
  return { apply, send, serverErrors }
}

function useLockText(profileId: number | undefined) {
  const { data } = useQuery(operationQuery('profilesList'))
  const name = data?.body.profiles.find(({ id }) => id === profileId)?.name
  return useMemo(
    () =>
      profileId === undefined ? (
        'Locked by the device profile'
      ) : (
        <>
          Locked by profile{' '}
          <Link to="/profiles/$profileId" params={{ profileId: String(profileId) }}>
            {name ?? profileId}
          </Link>
        </>
      ),
    [profileId, name],
  )
}

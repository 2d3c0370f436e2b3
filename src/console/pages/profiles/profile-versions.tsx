// Lists the versions of a profile; each can be restored after a review of the differences.
import { useState } from 'react'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { useBody, useResponse, useWrite } from '../../api.ts'
import { refetchIfChanged } from '../../parts/dialog/concurrent-change.ts'
import { ReviewDialog } from '../../parts/settings-form/review-dialog.tsx'
import { differenceCount } from '../../parts/text/diff-table.tsx'
import { plural } from '../../parts/text/words.ts'
import { VersionsTable } from '../../parts/versions/versions-table.tsx'
import { usePermissions, useSession } from '../../session.ts'
import { draftOfProfile } from './profile-fields.ts'
import { savingText } from './reach-text.ts'

type ProfileVersion = ResponseOf<Operations['profileVersionsList']>['versions'][number]

export function ProfileVersions({ id }: { readonly id: number }) {
  const may = usePermissions()
  const { org } = useSession()
  const { versions } = useBody('profileVersionsList', { id })
  return (
    <VersionsTable
      title="Profile history"
      versions={versions.map((version, index) => withTextDiff(version, versions[index + 1]))}
      zone={org.timezone}
      empty="Every change of this profile from now on is saved here and can be restored."
      restoreDialog={
        may.everywhere
          ? (version, onClose) => <RestoreProfile id={id} version={version} onClose={onClose} />
          : undefined
      }
    />
  )
}

/** The service compares settings only, so changes of the name and the description are found here. */
function withTextDiff(version: ProfileVersion, before: ProfileVersion | undefined) {
  const isNew = version.version === 1
  if (!before && !isNew) return version
  const changes = (['name', 'description'] as const)
    .filter((field) => version[field] !== before?.[field])
    .map((field) => [field, { before: before?.[field], after: version[field] }])
  return { ...version, diff: { ...Object.fromEntries(changes), ...version.diff } }
}

interface RestoreProfileProps {
  readonly id: number
  readonly version: ProfileVersion
  readonly onClose: () => void
}

function RestoreProfile({ id, version, onClose }: RestoreProfileProps) {
  const { body, etag } = useResponse('profilesGet', { id })
  const reach = useBody('profilesReach', { id })
  const [seen, setSeen] = useState(etag)
  const { name } = body.profile
  const restore = useWrite('profilesRestore', {
    quiet: true,
    successText: `Version ${version.version} of ${name} restored`,
    onDone: onClose,
  })
  const send = async () => {
    try {
      await restore.mutateAsync({ input: { id, n: version.version }, ifMatch: seen })
    } catch (error) {
      await refetchIfChanged(error)
    }
  }
  const [before, after] = [
    draftOfProfile({ ...body.profile, externalId: undefined }, body.config),
    draftOfProfile(version, version.config),
  ]
  const isStale = seen !== etag && !restore.isPending
  return (
    <ReviewDialog
      opened
      onClose={onClose}
      title={`Restore version ${version.version} of ${name}? ${plural(differenceCount(before, after), 'field')} will change`}
      before={before}
      after={after}
      verb="Restore"
      isBusy={restore.isPending}
      error={restore.error}
      onConfirm={() => void send()}
      onContinue={
        isStale
          ? () => {
              restore.reset()
              setSeen(etag)
            }
          : undefined
      }
    >
      Passwords are restored too but are not listed here. {savingText(reach)}
    </ReviewDialog>
  )
}

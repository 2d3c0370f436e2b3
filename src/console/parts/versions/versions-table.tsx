// Lists versions: author, time and changes; each opens to its differences, and can be restored after a review.
import { Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ReactNode, Suspense, useState } from 'react'
import { settingName } from '../../../contract/device/setting-names.ts'
import { DisclosureButton } from '../page/disclosure-button.tsx'
import { EmptyState, Section } from '../page/page.tsx'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { DiffTable } from '../text/diff-table.tsx'
import { DateTime } from '../text/time.tsx'
import { plural } from '../text/words.ts'

/** A version of the settings of a device, or of a profile. */
export interface ListedVersion {
  readonly version: number
  readonly createdAt: string
  readonly author: { readonly name: string }
  readonly diff: Readonly<Record<string, { readonly before?: unknown; readonly after?: unknown }>>
  /** The settings that the device rejected. */
  readonly error?: string | undefined
  /** The job that made the version. */
  readonly jobId?: string | undefined
}

/** The API lists no more versions than this. [contract D.23] */
const maxListed = 200

interface VersionsTableProps<V extends ListedVersion> {
  readonly title: string
  /** The newest first. */
  readonly versions: readonly V[]
  readonly zone: string
  /** A sentence for a table without versions. */
  readonly empty: string
  /** The state of a version; absent in a table without states. */
  readonly stateOf?: (version: V) => ReactNode
  /** Reviews the restoring of a version; undefined if the user must not restore. */
  readonly restoreDialog: ((version: V, onClose: () => void) => ReactNode) | undefined
}

export function VersionsTable<V extends ListedVersion>(props: VersionsTableProps<V>) {
  const { title, versions, zone, empty, stateOf, restoreDialog } = props
  const [restoring, setRestoring] = useState<{ readonly version: V; readonly button: HTMLElement }>()
  const close = () => {
    setRestoring(undefined)
    restoring?.button.focus()
  }
  const newest = versions[0]?.version
  const restoreColumn: Column<V> = {
    id: 'restore',
    title: 'Restore',
    isControl: true,
    inCard: 'corner',
    cell: (version) =>
      version.version === newest ? (
        <Text span fz="sm" c="dimmed">
          Current
        </Text>
      ) : (
        <Button
          size="compact-sm"
          variant="default"
          onClick={({ currentTarget }) => setRestoring({ version, button: currentTarget })}
          aria-label={`Restore version ${version.version}`}
        >
          Restore
        </Button>
      ),
  }
  return (
    <Section title={title}>
      {versions.length === 0 ? (
        <EmptyState title="No history yet">{empty}</EmptyState>
      ) : (
        <DataTable
          label={title}
          rows={versions}
          columns={[
            versionColumn,
            ...(stateOf ? [{ id: 'state', title: 'State', cell: stateOf }] : []),
            ...changeColumns(zone),
            ...(restoreDialog ? [restoreColumn] : []),
          ]}
          keyOf={({ version }) => version}
          details={(version) => <VersionDetails version={version} />}
          minWidthPx={620}
        />
      )}
      {versions.length === maxListed && (
        <Text fz="sm" c="dimmed" mt="sm">
          Showing the latest {maxListed} versions.
        </Text>
      )}
      {restoring && <Suspense>{restoreDialog?.(restoring.version, close)}</Suspense>}
    </Section>
  )
}

const versionColumn: Column<ListedVersion> = {
  id: 'version',
  title: 'Version',
  cell: ({ version }, { isOpen, id, toggle }) => (
    <DisclosureButton isOpen={isOpen} aria-controls={id} aria-label={`Changes in version ${version}`} onClick={toggle}>
      {version}
    </DisclosureButton>
  ),
}

const changeColumns = (zone: string): readonly Column<ListedVersion>[] => [
  { id: 'time', title: 'Time', cell: ({ createdAt }) => <DateTime at={createdAt} zone={zone} /> },
  { id: 'author', title: 'Changed by', breaksWords: true, cell: (version) => <Author version={version} /> },
  { id: 'changes', title: 'Changes', cell: ({ diff }) => changeSummary(Object.keys(diff)) },
]

const Author = ({ version: { author, jobId } }: { readonly version: ListedVersion }) => (
  <>
    {author.name}
    {jobId !== undefined && (
      <>
        {', '}
        <Link to="/jobs/$jobId" params={{ jobId }}>
          job {jobId}
        </Link>
      </>
    )}
  </>
)

function VersionDetails({ version }: { readonly version: ListedVersion }) {
  const { before, after } = diffSides(version.diff)
  return (
    <>
      {version.error && (
        <Text fz="sm" mb="xs" c="var(--rk-offline)">
          Rejected by the device: {version.error}
        </Text>
      )}
      <DiffTable before={before} after={after} />
    </>
  )
}

function changeSummary(changedNames: readonly string[]): string {
  if (changedNames.length === 0) return 'No changes'
  const [first = '', second] = changedNames
  if (changedNames.length > 2) return `${settingName(first)} and ${plural(changedNames.length - 1, 'more', 'more')}`
  return second === undefined ? settingName(first) : `${settingName(first)}, ${settingName(second)}`
}

function diffSides(diff: ListedVersion['diff']) {
  const side = (which: 'before' | 'after') =>
    Object.fromEntries(Object.entries(diff).map(([name, change]) => [name, change[which]]))
  return { before: side('before'), after: side('after') }
}

// Lists versions: author, time and changes; each can be restored after a review.
import { Table, Text } from '@mantine/core'
import { type ReactNode, Suspense, useState } from 'react'
import { EmptyState, Section } from '../page/page.tsx'
import { type ListedVersion, VersionTableRow } from './version-row.tsx'

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
  const columnCount = 4 + (stateOf ? 1 : 0) + (restoreDialog ? 1 : 0)
  return (
    <Section title={title}>
      {versions.length === 0 ? (
        <EmptyState title="No history yet">{empty}</EmptyState>
      ) : (
        <Table.ScrollContainer minWidth={620} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table fz="sm" verticalSpacing="xs" aria-label={title}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Version</Table.Th>
                {stateOf && <Table.Th scope="col">State</Table.Th>}
                <Table.Th scope="col">Time</Table.Th>
                <Table.Th scope="col">Changed by</Table.Th>
                <Table.Th scope="col">Changes</Table.Th>
                {restoreDialog && (
                  <Table.Th scope="col" ta="right">
                    Restore
                  </Table.Th>
                )}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {versions.map((version, index) => (
                <VersionTableRow
                  key={version.version}
                  version={version}
                  state={stateOf?.(version)}
                  zone={zone}
                  isNewest={index === 0}
                  columnCount={columnCount}
                  onRestore={restoreDialog && ((button) => setRestoring({ version, button }))}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
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

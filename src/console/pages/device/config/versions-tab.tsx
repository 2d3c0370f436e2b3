// Lists the config versions of a device: author, time and changes; each can be restored.
import { Table, Text } from '@mantine/core'
import { Suspense, useState } from 'react'
import { useBody } from '../../../api.ts'
import { useDeviceTimeZone } from '../../../domain/device/device.ts'
import { EmptyState, Section } from '../../../parts/page/page.tsx'
import { usePermissions } from '../../../session.ts'
import { RestoreDialog } from './config-restore.tsx'
import { type ListedConfigVersion, VersionTableRow } from './config-version-row.tsx'

/** The API lists no more versions than this. [contract D.23] */
const maxListed = 200

export function VersionsTab({ endpointId }: { readonly endpointId: string }) {
  const may = usePermissions()
  const device = useBody('endpointsGet', { id: endpointId })
  const { versions } = useBody('configVersionsList', { id: endpointId })
  const zone = useDeviceTimeZone(device)
  const [restoring, setRestoring] = useState<{ readonly version: ListedConfigVersion; readonly button: HTMLElement }>()
  const close = () => {
    setRestoring(undefined)
    restoring?.button.focus()
  }
  return (
    <Section title="Settings history">
      {versions.length === 0 ? (
        <EmptyState title="No history yet">
          Every change of settings or profile is saved here and can be restored.
        </EmptyState>
      ) : (
        <Table.ScrollContainer minWidth={620} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table fz="sm" verticalSpacing="xs" aria-label="Settings history">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Version</Table.Th>
                <Table.Th scope="col">State</Table.Th>
                <Table.Th scope="col">Time</Table.Th>
                <Table.Th scope="col">Changed by</Table.Th>
                <Table.Th scope="col">Changes</Table.Th>
                {may.write && (
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
                  zone={zone}
                  isNewest={index === 0}
                  onRestore={may.write ? (from, button) => setRestoring({ version: from, button }) : undefined}
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
      {restoring && (
        <Suspense>
          <RestoreDialog endpointId={endpointId} version={restoring.version} onClose={close} />
        </Suspense>
      )}
    </Section>
  )
}

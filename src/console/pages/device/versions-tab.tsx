// Every version of a device's config: who made it, when, what it changed, and a way back to it.
import { Table, Text } from '@mantine/core'
import { Suspense, useState } from 'react'
import { useBody } from '../../api.ts'
import { useDeviceTimeZone } from '../../domain/device/device.ts'
import { EmptyState, Section } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { RestoreDialog } from './config-restore.tsx'
import { type Version, VersionRow } from './config-version-row.tsx'

/** How many the service lists. [contract 6.configVersions] */
const mostListed = 200

export function VersionsTab({ endpointId }: { readonly endpointId: string }) {
  const may = usePermissions()
  const device = useBody('endpointsGet', { id: endpointId })
  const { versions } = useBody('configVersionsList', { id: endpointId })
  const zone = useDeviceTimeZone(device)
  const [chosen, setChosen] = useState<{ readonly version: Version; readonly button: HTMLElement }>()
  const close = () => {
    setChosen(undefined)
    chosen?.button.focus()
  }
  return (
    <Section title="Versions of the config">
      {versions.length === 0 ? (
        <EmptyState title="There is no version yet">
          Each time that settings are applied to this device, or its profile changes, a version is kept here. It says
          who did it and what changed, and you can go back to it.
        </EmptyState>
      ) : (
        <Table.ScrollContainer minWidth={620} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table fz="sm" verticalSpacing="xs" aria-label="Versions of the config">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Version</Table.Th>
                <Table.Th scope="col">State</Table.Th>
                <Table.Th scope="col">When</Table.Th>
                <Table.Th scope="col">Who</Table.Th>
                <Table.Th scope="col">Changed</Table.Th>
                {may.write && (
                  <Table.Th scope="col" ta="right">
                    Go back
                  </Table.Th>
                )}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {versions.map((version, index) => (
                <VersionRow
                  key={version.version}
                  version={version}
                  zone={zone}
                  isNewest={index === 0}
                  onRestore={may.write ? (from, button) => setChosen({ version: from, button }) : undefined}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {versions.length === mostListed && (
        <Text fz="sm" c="dimmed" mt="sm">
          Only the newest {mostListed} versions are listed.
        </Text>
      )}
      {chosen && (
        <Suspense>
          <RestoreDialog endpointId={endpointId} version={chosen.version} onClose={close} />
        </Suspense>
      )}
    </Section>
  )
}

// Shows one config version as a table row, which expands to the settings that the version changed.
import { Button, Table, Text } from '@mantine/core'
import { useId, useState } from 'react'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { DisclosureButton } from '../../../parts/page/disclosure-button.tsx'
import { settingName } from '../../../parts/settings-form/setting-sections.ts'
import { DiffTable } from '../../../parts/text/diff-table.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { plural } from '../../../parts/text/words.ts'
import { ConfigStateMark } from './config-state-mark.tsx'

export type ListedConfigVersion = ResponseOf<Operations['configVersionsList']>['versions'][number]

interface VersionTableRowProps {
  readonly version: ListedConfigVersion
  readonly zone: string
  readonly isNewest: boolean
  /** Receives the pressed button, which gets the focus back when the dialog closes. */
  readonly onRestore: ((version: ListedConfigVersion, button: HTMLElement) => void) | undefined
}

export function VersionTableRow({ version, zone, isNewest, onRestore }: VersionTableRowProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const changedNames = Object.keys(version.diff)
  return (
    <>
      <Table.Tr>
        <Table.Th scope="row" fw={550}>
          <DisclosureButton
            isOpen={isOpen}
            aria-controls={id}
            aria-label={`Changes in version ${version.version}`}
            onClick={() => setOpen(!isOpen)}
          >
            {version.version}
          </DisclosureButton>
        </Table.Th>
        <Table.Td>
          <ConfigStateMark state={version.state} />
        </Table.Td>
        <Table.Td>
          <DateTime at={version.createdAt} zone={zone} />
        </Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>{version.author.name}</Table.Td>
        <Table.Td>{changeSummary(changedNames)}</Table.Td>
        {onRestore && (
          <Table.Td ta="right">
            {isNewest ? (
              <Text span fz="sm" c="dimmed">
                Current
              </Text>
            ) : (
              <Button
                size="compact-sm"
                variant="default"
                onClick={(event) => onRestore(version, event.currentTarget)}
                aria-label={`Restore version ${version.version}`}
              >
                Restore
              </Button>
            )}
          </Table.Td>
        )}
      </Table.Tr>
      <Table.Tr id={id} hidden={!isOpen}>
        <Table.Td colSpan={onRestore ? 6 : 5} bg="var(--rk-page)" p="md">
          {isOpen && <VersionDetails version={version} />}
        </Table.Td>
      </Table.Tr>
    </>
  )
}

function VersionDetails({ version }: { readonly version: ListedConfigVersion }) {
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

function diffSides(diff: ListedConfigVersion['diff']) {
  const side = (which: 'before' | 'after') =>
    Object.fromEntries(Object.entries(diff).map(([name, change]) => [name, change[which]]))
  return { before: side('before'), after: side('after') }
}

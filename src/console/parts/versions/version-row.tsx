// Shows one version as a table row, which expands to the settings that the version changed.
import { Button, Table, Text } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import { settingName } from '../../../contract/device/setting-names.ts'
import { DisclosureButton } from '../page/disclosure-button.tsx'
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
}

interface VersionTableRowProps {
  readonly version: ListedVersion
  /** A cell with the state of the version; undefined in a table without states. */
  readonly state: ReactNode
  readonly zone: string
  readonly isNewest: boolean
  readonly columnCount: number
  /** Receives the pressed button, which gets the focus back when the dialog closes. */
  readonly onRestore: ((button: HTMLElement) => void) | undefined
}

export function VersionTableRow(props: VersionTableRowProps) {
  const { version, state, zone, isNewest, columnCount, onRestore } = props
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
        {state !== undefined && <Table.Td>{state}</Table.Td>}
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
                onClick={(event) => onRestore(event.currentTarget)}
                aria-label={`Restore version ${version.version}`}
              >
                Restore
              </Button>
            )}
          </Table.Td>
        )}
      </Table.Tr>
      <Table.Tr id={id} hidden={!isOpen}>
        <Table.Td colSpan={columnCount} bg="var(--rk-page)" p="md">
          {isOpen && <VersionDetails version={version} />}
        </Table.Td>
      </Table.Tr>
    </>
  )
}

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

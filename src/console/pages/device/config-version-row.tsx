// One version in the list: a line, and below it what it changed when somebody wants to know.
import { Button, Table, Text } from '@mantine/core'
import { useId, useState } from 'react'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { settingName } from '../../parts/settings-form/setting-sections.ts'
import { DiffTable } from '../../parts/text/diff-table.tsx'
import { Timestamp } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { ConfigStateMark } from './config-state-mark.tsx'

export type Version = ResponseOf<Operations['configVersionsList']>['versions'][number]

interface VersionRowProps {
  readonly version: Version
  readonly zone: string
  readonly isNewest: boolean
  /** With the button that was pressed: the focus comes back to it. */
  readonly onRestore: ((version: Version, button: HTMLElement) => void) | undefined
}

export function VersionRow({ version, zone, isNewest, onRestore }: VersionRowProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const changed = Object.keys(version.diff)
  return (
    <>
      <Table.Tr>
        <Table.Th scope="row" fw={550}>
          <DisclosureButton
            isOpen={isOpen}
            aria-controls={id}
            aria-label={`What version ${version.version} changed`}
            onClick={() => setOpen(!isOpen)}
          >
            {version.version}
          </DisclosureButton>
        </Table.Th>
        <Table.Td>
          <ConfigStateMark state={version.state} />
        </Table.Td>
        <Table.Td>
          <Timestamp at={version.createdAt} zone={zone} />
        </Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>{version.author.name}</Table.Td>
        <Table.Td>{summaryOf(changed)}</Table.Td>
        {onRestore && (
          <Table.Td ta="right">
            {isNewest ? (
              <Text span fz="sm" c="dimmed">
                In force
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
          {isOpen && <Details version={version} />}
        </Table.Td>
      </Table.Tr>
    </>
  )
}

function Details({ version }: { readonly version: Version }) {
  const { before, after } = sidesOf(version.diff)
  return (
    <>
      {version.error && (
        <Text fz="sm" mb="xs" c="var(--rk-offline)">
          The device refused: {version.error}
        </Text>
      )}
      <DiffTable before={before} after={after} />
    </>
  )
}

function summaryOf(changed: readonly string[]): string {
  if (changed.length === 0) return 'Nothing'
  const [first = '', second] = changed
  if (changed.length > 2) return `${settingName(first)} and ${plural(changed.length - 1, 'more', 'more')}`
  return second === undefined ? settingName(first) : `${settingName(first)}, ${settingName(second)}`
}

function sidesOf(diff: Version['diff']) {
  const side = (which: 'before' | 'after') =>
    Object.fromEntries(Object.entries(diff).map(([name, change]) => [name, change[which]]))
  return { before: side('before'), after: side('after') }
}

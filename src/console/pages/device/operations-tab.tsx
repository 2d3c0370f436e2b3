// Lists the operations of a device and their states; the newest comes first. [contract 5.4.operation]
import { Button, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { useBody, useWrite } from '../../api.ts'
import { useDeviceTimeZone } from '../../domain/fleet/device/device.ts'
import { waitTexts } from '../../domain/fleet/device/waiting-restarts.tsx'
import { CancelledIcon, ClockIcon, DownloadIcon, MessageIcon, PowerIcon, RebootIcon } from '../../parts/page/icons.tsx'
import { EmptyState, Section } from '../../parts/page/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { StateBadge, type StateLook, StatusLabel } from '../../parts/text/status-label.tsx'
import { ageText, DateTime } from '../../parts/text/time.tsx'
import { usePermissions } from '../../session.ts'
import type { TabProps } from './tab-props.ts'

/** The API lists no more operations than this. [contract D.23] */
const maxListed = 200

type Operation = ResponseOf<Operations['endpointsOperationsList']>['operations'][number]

const types: Record<Operation['type'], { name: string; icon: ReactNode }> = {
  REBOOT: { name: 'Restart', icon: <RebootIcon size={16} /> },
  MESSAGE: { name: 'Send message', icon: <MessageIcon size={16} /> },
  COLLECT_LOGS: { name: 'Collect logs', icon: <DownloadIcon size={16} /> },
  POWER: { name: 'Switch power', icon: <PowerIcon size={16} /> },
}

const openState = { tone: 'quiet', icon: <ClockIcon size={16} />, isOpen: true } as const
const states: Record<Operation['state'], StateLook & { readonly isOpen?: boolean; readonly meaning?: string }> = {
  QUEUED: { ...openState, label: 'Waiting', meaning: 'Sent when the device is online.' },
  SENT: { ...openState, label: 'Sent', meaning: 'Not confirmed by the device yet.' },
  ACKNOWLEDGED: { ...openState, label: 'In progress', meaning: 'Confirmed by the device.' },
  SUCCEEDED: { label: 'Done', tone: 'calm' },
  FAILED: { label: 'Failed', tone: 'danger' },
  EXPIRED: {
    label: 'Timed out',
    tone: 'warning',
    meaning: 'The device did not finish before the deadline. Try again.',
  },
  CANCELLED: { label: 'Cancelled', tone: 'quiet', icon: <CancelledIcon size={16} /> },
  SKIPPED: {
    label: 'Skipped',
    tone: 'warning',
    meaning: 'The device was not connected when its paired devices restarted.',
  },
}

export function OperationsTab({ device }: TabProps) {
  const { operations } = useBody('endpointsOperationsList', { id: device.id })
  const zone = useDeviceTimeZone(device)
  return (
    <Section title="Operations">
      {operations.length === 0 ? (
        <EmptyState title="No operations yet">Restarts, messages and log requests appear here.</EmptyState>
      ) : (
        <DataTable
          label="List of operations"
          rows={operations}
          columns={operationColumns(zone)}
          keyOf={({ id }) => id}
          minWidthPx={640}
        />
      )}
      {operations.length >= maxListed && (
        <Text fz="sm" c="dimmed" mt="sm">
          Showing the latest {maxListed}. See the audit log for all.
        </Text>
      )}
    </Section>
  )
}

const operationColumns = (zone: string): readonly Column<Operation>[] => [
  {
    id: 'operation',
    title: 'Operation',
    width: '26%',
    cell: ({ type }) => (
      <StatusLabel tone="plain" icon={types[type].icon}>
        {types[type].name}
      </StatusLabel>
    ),
  },
  { id: 'status', title: 'Status', cell: (operation) => <OperationStatus operation={operation} /> },
  {
    id: 'requested',
    title: 'Requested',
    width: '17%',
    sortValue: ({ createdAt }) => Date.parse(createdAt),
    cell: ({ createdAt }) => <DateTime at={createdAt} zone={zone} />,
  },
  {
    id: 'updated',
    title: 'Updated',
    width: '17%',
    sortValue: ({ updatedAt }) => Date.parse(updatedAt),
    cell: ({ updatedAt }) => <DateTime at={updatedAt} zone={zone} />,
  },
]

function OperationStatus({ operation }: { readonly operation: Operation }) {
  const { id, type, state, error, createdAt, updatedAt, deadline, waitsFor } = operation
  const { meaning, isOpen } = states[state]
  const may = usePermissions()
  const cancel = useWrite('operationsCancel', { successText: 'Operation cancelled' })
  return (
    <>
      <StateBadge look={states[state]} />
      <Text fz="xs" c="dimmed" pl={22} style={{ overflowWrap: 'anywhere' }}>
        {error ??
          (waitsFor ? `${waitTexts[waitsFor]}.` : meaning) ??
          `After ${ageText(Date.parse(createdAt), Date.parse(updatedAt))}.`}
        {isOpen && (
          <>
            {' '}
            Expires <DateTime at={deadline} />.
          </>
        )}
      </Text>
      {may.operate && state === 'QUEUED' && (
        <Button
          variant="default"
          size="compact-xs"
          mih={24}
          ml={22}
          mt={4}
          loading={cancel.isPending}
          onClick={() => cancel.mutate({ input: { id } })}
          aria-label={`Cancel: ${types[type].name}`}
        >
          Cancel
        </Button>
      )}
    </>
  )
}

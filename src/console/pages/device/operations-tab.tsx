// What a device was asked to do, the newest first, and how far it is. [contract 5.4.operation]
import { Box, Button, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { useBody, useWrite } from '../../api.ts'
import { useDeviceTimeZone } from '../../domain/device/device.ts'
import {
  CheckIcon,
  ClockIcon,
  CrossIcon,
  DotIcon,
  DownloadIcon,
  MessageIcon,
  RebootIcon,
  WarnIcon,
} from '../../parts/page/icons.tsx'
import { EmptyState, Section } from '../../parts/page/page.tsx'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { ageText, Timestamp } from '../../parts/text/time.tsx'
import { usePermissions } from '../../session.ts'
import type { TabProps } from './device-page.tsx'
import classes from './table.module.css'

type Operation = ResponseOf<Operations['endpointsOperationsList']>['operations'][number]

const types: Record<Operation['type'], { name: string; icon: ReactNode }> = {
  REBOOT: { name: 'Reboot', icon: <RebootIcon size={16} /> },
  MESSAGE: { name: 'Message to screen', icon: <MessageIcon size={16} /> },
  COLLECT_LOGS: { name: 'Collect logs', icon: <DownloadIcon size={16} /> },
}

const open = { colour: 'var(--mantine-color-text)', mark: <ClockIcon size={16} />, isOpen: true }
const states: Record<
  Operation['state'],
  { word: string; colour: string; mark: ReactNode; isOpen?: boolean; meaning?: string }
> = {
  QUEUED: { ...open, word: 'Waiting', meaning: 'It is sent as soon as the device is connected.' },
  SENT: { ...open, word: 'Sent', meaning: 'The device has not confirmed it yet.' },
  ACKNOWLEDGED: { ...open, word: 'Under way', meaning: 'The device has it and is doing it.' },
  SUCCEEDED: { word: 'Done', colour: 'var(--rk-healthy)', mark: <CheckIcon size={16} /> },
  FAILED: { word: 'Failed', colour: 'var(--rk-offline)', mark: <CrossIcon size={16} /> },
  EXPIRED: {
    word: 'Not done in time',
    colour: 'var(--rk-degraded)',
    mark: <WarnIcon size={16} />,
    meaning: 'The device did not finish it before the deadline. Ask again if it is still wanted.',
  },
  CANCELLED: { word: 'Cancelled', colour: 'var(--rk-empty)', mark: <DotIcon size={16} /> },
  SKIPPED: {
    word: 'Skipped',
    colour: 'var(--rk-degraded)',
    mark: <WarnIcon size={16} />,
    meaning: 'The device was offline when its pair was told to reboot.',
  },
}

export function OperationsTab({ device }: TabProps) {
  const { operations } = useBody('endpointsOperationsList', { id: device.id })
  const zone = useDeviceTimeZone(device)
  return (
    <Section title="What it was asked to do">
      {operations.length === 0 ? (
        <EmptyState title="This device was not asked to do anything yet.">
          Reboots, messages to its screen and requests for its logs appear here, with how far they are.
        </EmptyState>
      ) : (
        <Box role="region" aria-label="Operations" tabIndex={0} style={{ overflowX: 'auto' }}>
          <Table miw={640} verticalSpacing="xs" className={classes.table}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th w="26%">What</Table.Th>
                <Table.Th>How far</Table.Th>
                <Table.Th w="17%">Asked</Table.Th>
                <Table.Th w="17%">Last change</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {operations.map((operation) => (
                <Row key={operation.id} operation={operation} zone={zone} />
              ))}
            </Table.Tbody>
          </Table>
        </Box>
      )}
      {operations.length >= 200 && (
        <Text fz="sm" c="dimmed" mt="sm">
          These are the newest 200. The audit log has all that was ever asked.
        </Text>
      )}
    </Section>
  )
}

function Row({ operation, zone }: { readonly operation: Operation; readonly zone: string }) {
  const { id, type, state, error, createdAt, updatedAt, deadline } = operation
  const { name, icon } = types[type]
  const { word, colour, mark, meaning, isOpen } = states[state]
  const may = usePermissions()
  const cancel = useWrite('operationsCancel', { successText: `${name} cancelled.` })
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        <StatusLabel colour="var(--mantine-color-text)" icon={icon}>
          {name}
        </StatusLabel>
      </Table.Th>
      <Table.Td>
        <StatusLabel colour={colour} icon={mark}>
          {word}
        </StatusLabel>
        <Text fz="xs" c="dimmed" pl={22} style={{ overflowWrap: 'anywhere' }}>
          {error ?? meaning ?? `After ${ageText(Date.parse(createdAt), Date.parse(updatedAt))}.`}
          {isOpen && (
            <>
              {' '}
              Expires <Timestamp at={deadline} />.
            </>
          )}
        </Text>
        {may.write && state === 'QUEUED' && (
          <Button
            variant="default"
            size="compact-xs"
            mih={24}
            ml={22}
            mt={4}
            loading={cancel.isPending}
            onClick={() => cancel.mutate({ input: { id } })}
            aria-label={`Cancel: ${name}`}
          >
            Cancel
          </Button>
        )}
      </Table.Td>
      <Table.Td>
        <Timestamp at={createdAt} zone={zone} />
      </Table.Td>
      <Table.Td>
        <Timestamp at={updatedAt} zone={zone} />
      </Table.Td>
    </Table.Tr>
  )
}

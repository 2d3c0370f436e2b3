// Shows the enrolment code of a room when it is asked for, as text and QR code with its expiry, creates a new code, and adds devices behind a gateway.
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../../client/client.ts'
import { placedRoomName } from '../../../contract/fleet/room-name.ts'
import { operationQuery, useWrite } from '../../api.ts'
import { AddDeviceButton } from '../../domain/fleet/gateway/add-device.tsx'
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { CopyIconButton } from '../../parts/page/copy-icon-button.tsx'
import { ErrorPanel, Section } from '../../parts/page/page.tsx'
import { useNow } from '../../parts/text/now.ts'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import classes from './room.module.css'

interface EnrolmentSectionProps {
  readonly room: RoomDetails
  readonly zone: string
  readonly isOpen: boolean
  /** Absent for a room without devices, whose code is always shown. */
  readonly onToggle: (() => void) | undefined
  readonly onAddDevice: () => void
}

export function EnrolmentSection({ room, zone, isOpen, onToggle, onAddDevice }: EnrolmentSectionProps) {
  const { write } = usePermissions()
  const [isConfirming, setConfirming] = useState(false)
  return (
    <Section
      title="Enrol a device"
      actions={
        <Group gap="xs">
          <AddDeviceButton onClick={onAddDevice} />
          {isOpen && (
            <Button variant="default" size="xs" onClick={() => setConfirming(true)}>
              New code
            </Button>
          )}
          {onToggle && (
            <Button variant="default" size="xs" aria-expanded={isOpen} onClick={onToggle}>
              {isOpen ? 'Hide code' : 'Show code'}
            </Button>
          )}
        </Group>
      }
    >
      {write && (
        <Text fz="sm" mb={isOpen ? 'sm' : 0}>
          For codecs, projectors, switches and the like use “Add device”. Other devices take the room’s code.
        </Text>
      )}
      {isOpen && (
        <Enrolment room={room} zone={zone} isConfirming={isConfirming} onConfirmed={() => setConfirming(false)} />
      )}
    </Section>
  )
}

interface EnrolmentProps {
  readonly room: RoomDetails
  readonly zone: string
  readonly isConfirming: boolean
  readonly onConfirmed: () => void
}

function Enrolment({ room, zone, isConfirming, onConfirmed }: EnrolmentProps) {
  const expiresAtMs = expiryOfCode(room)
  const hasExpired = useNow() >= (expiresAtMs ?? Number.POSITIVE_INFINITY) || room.dec === undefined
  const { data, error, refetch } = useQuery({
    ...operationQuery('roomsEnrolmentGet', { id: room.id }),
    enabled: !hasExpired,
  })
  const isRejected = error instanceof ApiError && error.body?.code === 'FAILED_PRECONDITION'
  const isExpired = hasExpired || isRejected
  return (
    <>
      {isExpired && (
        <Stack gap={4}>
          <StatusLabel tone="warning">This code has expired</StatusLabel>
          <Text fz="sm">Create a new code to enrol another device. Enrolled devices are not affected.</Text>
        </Stack>
      )}
      {!isExpired && error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!isExpired && data && (
        <div className={classes.enrolment}>
          <img
            className={classes.qr}
            src={`data:image/svg+xml,${encodeURIComponent(data.body.qr)}`}
            alt={`QR code to enrol a device in ${placedRoomName(room.name, room.location?.name)}`}
          />
          <Stack gap="xs">
            <EnrolmentCode code={data.body.dec} />
            <Text fz="sm">Type this code on the device or scan the QR code.</Text>
            <Text fz="sm">
              {expiresAtMs === undefined ? (
                `Unused. Valid for ${plural(room.decTimeout ?? 24, 'hour')} after first use.`
              ) : (
                <>
                  Valid until <DateTime at={expiresAtMs} zone={zone} />
                </>
              )}
            </Text>
            <Text fz="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              The QR code leads to {data.body.url}
              {isLoopback(data.body.url) &&
                '. This address works only on the server itself. Set the option --public-url to an address that devices can reach.'}
            </Text>
          </Stack>
        </div>
      )}
      <NewCodeDialog room={room} isExpired={isExpired} opened={isConfirming} onClose={onConfirmed} />
    </>
  )
}

const isLoopback = (address: string): boolean => /^(localhost|127\..*|\[::1\])$/.test(new URL(address).hostname)

/** The expiry is undefined until the first use of the code; until then `decUsed` is negative. [contract 5.4.room] */
function expiryOfCode({ decUsed, decTimeout }: RoomDetails): number | undefined {
  const usedAtSeconds = Number(decUsed ?? -1)
  return usedAtSeconds > 0 && decTimeout !== undefined ? (usedAtSeconds + decTimeout * 3600) * 1000 : undefined
}

const EnrolmentCode = ({ code }: { readonly code: string }) => (
  <Group gap="xs" wrap="nowrap">
    <span className={classes.code}>{code}</span>
    <CopyIconButton text={code} tip="Copy code" />
  </Group>
)

interface NewCodeDialogProps {
  readonly room: RoomDetails
  readonly isExpired: boolean
  readonly opened: boolean
  readonly onClose: () => void
}

function NewCodeDialog({ room, isExpired, opened, onClose }: NewCodeDialogProps) {
  const write = useWrite('roomsRegenerateDec', { quiet: true, successText: 'New code created', onDone: onClose })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="New enrolment code"
      verb="Create new code"
      danger={!isExpired}
      mutation={write}
      onConfirm={() => write.mutate({ input: { id: room.id } })}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        <strong>{placedRoomName(room.name, room.location?.name)}</strong> gets a new code.{' '}
        {isExpired ? 'The old code has expired.' : 'The old code stops working immediately.'} Enrolled devices are not
        affected.
      </Text>
    </ConfirmDialog>
  )
}

// How a device gets into the room: the code, the same as a QR code, until when it works, and a new one.
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../../client/client.ts'
import { operationQuery, useWrite } from '../../api.ts'
import type { RoomDetails } from '../../domain/room/room.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { CopyIconButton } from '../../parts/page/copy-icon-button.tsx'
import { WarnIcon } from '../../parts/page/icons.tsx'
import { ErrorPanel, Section } from '../../parts/page/page.tsx'
import { useNow } from '../../parts/text/now.ts'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { Timestamp } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import classes from './room.module.css'

interface EnrolmentProps {
  readonly room: RoomDetails
  readonly zone: string
}

export function Enrolment({ room, zone }: EnrolmentProps) {
  const [isAsking, setAsking] = useState(false)
  const expiry = expiryOf(room)
  const isOver = useNow() >= (expiry ?? Number.POSITIVE_INFINITY) || room.dec === undefined
  const { data, error, refetch } = useQuery({
    ...operationQuery('roomsEnrolmentGet', { id: room.id }),
    enabled: !isOver,
  })
  const isRefused = error instanceof ApiError && error.body?.code === 'FAILED_PRECONDITION'
  const isExpired = isOver || isRefused
  return (
    <Section
      title="Enrol a device"
      actions={
        <Button variant="default" size="xs" onClick={() => setAsking(true)}>
          New code
        </Button>
      }
    >
      {isExpired && (
        <Stack gap={4}>
          <StatusLabel colour="var(--rk-degraded)" icon={<WarnIcon size={16} />}>
            The code has expired
          </StatusLabel>
          <Text fz="sm">Devices that are enrolled stay. To enrol another one, make a new code.</Text>
        </Stack>
      )}
      {!isExpired && error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!isExpired && data && (
        <div className={classes.enrolment}>
          <img
            className={classes.qr}
            src={`data:image/svg+xml,${encodeURIComponent(data.body.qr)}`}
            alt={`QR code that enrols a device in ${room.name}`}
          />
          <Stack gap="xs">
            <Code code={data.body.dec} />
            <Text fz="sm">Enter this code on the device, or scan the QR code with it.</Text>
            <Text fz="sm">
              {expiry === undefined ? (
                `Not used yet. It expires ${plural(room.decTimeout ?? 24, 'hour')} after its first use.`
              ) : (
                <>
                  In use. It expires <Timestamp at={expiry} zone={zone} />.
                </>
              )}
            </Text>
            <Text fz="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              The QR code leads to {data.body.url}
              {isOnlyHere(data.body.url) &&
                ', which only the server itself can reach. For devices elsewhere, start it with --public-url.'}
            </Text>
          </Stack>
        </div>
      )}
      <NewCode room={room} isExpired={isExpired} opened={isAsking} onClose={() => setAsking(false)} />
    </Section>
  )
}

const isOnlyHere = (address: string): boolean => /^(localhost|127\..*|\[::1\])$/.test(new URL(address).hostname)

/** In milliseconds; undefined while nobody has used the code. Before that its first use is long before 1970. [contract 5.4.room] */
function expiryOf({ decUsed, decTimeout }: RoomDetails): number | undefined {
  const used = Number(decUsed ?? -1)
  return used > 0 && decTimeout !== undefined ? (used + decTimeout * 3600) * 1000 : undefined
}

const Code = ({ code }: { readonly code: string }) => (
  <Group gap="xs" wrap="nowrap">
    <span className={classes.code}>{code}</span>
    <CopyIconButton text={code} tip="Copy the code" />
  </Group>
)

interface NewCodeProps {
  readonly room: RoomDetails
  readonly isExpired: boolean
  readonly opened: boolean
  readonly onClose: () => void
}

function NewCode({ room, isExpired, opened, onClose }: NewCodeProps) {
  const write = useWrite('roomsRegenerateDec', {
    quiet: true,
    successText: 'The room has a new code.',
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="New enrolment code"
      verb="Make a new code"
      danger={!isExpired}
      mutation={write}
      onConfirm={() => write.mutate({ input: { id: room.id } })}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        <strong>{room.name}</strong> gets a new code.{' '}
        {isExpired
          ? 'The old one has expired already.'
          : 'The old one stops working at once, wherever it is written down.'}{' '}
        Devices that are enrolled stay.
      </Text>
    </ConfirmDialog>
  )
}

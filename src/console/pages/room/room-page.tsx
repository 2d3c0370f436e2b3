// The room page shows the state of one room, its readings, devices, history, profile, notes and enrolment code.
import { Button, Grid, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ApiError } from '../../../client/client.ts'
import { operationQuery, useIsWriting } from '../../api.ts'
import { type RoomSnapshot, roomTimeZone } from '../../domain/room/room.ts'
import { RoomStateLabel } from '../../domain/room/room-state.tsx'
import { SiteBreadcrumbs } from '../../domain/site/room-link.tsx'
import { EmptyState, Loading, LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { useNow } from '../../parts/text/now.ts'
import { clockInZone } from '../../parts/text/time.tsx'
import { usePermissions, useSession } from '../../session.ts'
import { CurrentReadings } from './current-readings.tsx'
import { EnrolmentSection } from './enrolment-section.tsx'
import { HistorySection } from './history/history-section.tsx'
import { NotesSection } from './notes-section.tsx'
import { ProfileSection } from './profile-section.tsx'
import { RoomActions } from './room-actions.tsx'
import { RoomDevices } from './room-devices.tsx'
import { stateReason, useRejectingDevices } from './room-reason.ts'

/** Ids are positive 32-bit integers. [contract 1.4] */
const maxId = 2 ** 31 - 1

export function RoomPage() {
  const { roomId } = useParams({ from: '/rooms/$roomId' })
  const id = Number(roomId)
  return Number.isInteger(id) && id > 0 && id <= maxId ? <RoomLoader id={id} /> : <RoomNotFound />
}

const isNotFound = (error: unknown) => error instanceof ApiError && error.status === 404

function RoomLoader({ id }: { readonly id: number }) {
  const { data, error } = useQuery({
    ...operationQuery('roomsGet', { id }),
    throwOnError: (thrown, query) => !isNotFound(thrown) && query.state.data === undefined,
  })
  const isWriting = useIsWriting()
  if (isNotFound(error) && !(data && isWriting)) return <RoomNotFound />
  if (!data) return <Loading />
  return <RoomView room={data.body} etag={data.etag} />
}

function RoomView({ room, etag }: RoomSnapshot) {
  const { org } = useSession()
  const { operate } = usePermissions()
  const zone = roomTimeZone(room, org.timezone)
  const rejectingDevices = useRejectingDevices(room)
  const isEmpty = room.endpoints.length === 0
  const enrolment = operate && <EnrolmentSection room={room} zone={zone} />
  return (
    <Page
      title={room.name}
      above={<SiteBreadcrumbs label="Breadcrumb" location={room.location} />}
      beside={<RoomStateLabel state={room.state} />}
      actions={operate && <RoomActions room={room} etag={etag} />}
    >
      <Group gap="lg" mt={-12}>
        <Text role="status">{stateReason(room, rejectingDevices)}</Text>
        <LocalTime zone={zone} />
      </Group>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack>
            {!isEmpty && <CurrentReadings room={room} zone={zone} />}
            <RoomDevices room={room} rejectingDevices={rejectingDevices} zone={zone} />
            {isEmpty && enrolment}
            <HistorySection room={room} zone={zone} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack>
            <LoadingBoundary>
              <ProfileSection room={room} />
            </LoadingBoundary>
            <LoadingBoundary>
              <NotesSection roomId={room.id} zone={zone} />
            </LoadingBoundary>
            {!isEmpty && enrolment}
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  )
}

function LocalTime({ zone }: { readonly zone: string }) {
  const there = clockInZone(useNow(), zone)
  return there === undefined ? null : <Text c="dimmed">Local time {there}</Text>
}

function RoomNotFound() {
  const { audit } = usePermissions()
  return (
    <Page title="Room not found">
      <EmptyState title="There is no room at this address">
        <p>The room may have been deleted. Check the address{audit && ', or search the audit log'}.</p>
        <Group justify="center" gap="xs">
          <Button component={Link} to="/rooms">
            View all rooms
          </Button>
          {audit && (
            <Button component={Link} to="/audit" variant="default">
              View audit log
            </Button>
          )}
        </Group>
      </EmptyState>
    </Page>
  )
}

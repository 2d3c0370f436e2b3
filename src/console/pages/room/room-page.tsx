// One room: is it all right, what is measured in it, which devices are there, and what can be done about it.
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
import { Enrolment } from './enrolment.tsx'
import { History } from './history.tsx'
import { Notes } from './notes.tsx'
import { RoomActions } from './room-actions.tsx'
import { RoomDevices } from './room-devices.tsx'
import { RoomProfile } from './room-profile.tsx'
import { reasonOf, useRefusing } from './room-reason.ts'
import { SensorsNow } from './sensors-now.tsx'

/** What the interface counts with. [contract 1.4] */
const largestId = 2 ** 31 - 1

export function RoomPage() {
  const { roomId } = useParams({ from: '/rooms/$roomId' })
  const id = Number(roomId)
  return Number.isInteger(id) && id > 0 && id <= largestId ? <KnownRoom id={id} /> : <NoRoom />
}

const isMissing = (error: unknown) => error instanceof ApiError && error.status === 404

function KnownRoom({ id }: { readonly id: number }) {
  const { data, error } = useQuery({
    ...operationQuery('roomsGet', { id }),
    throwOnError: (thrown, query) => !isMissing(thrown) && query.state.data === undefined,
  })
  const isWriting = useIsWriting()
  if (isMissing(error) && !(data && isWriting)) return <NoRoom />
  if (!data) return <Loading />
  return <RoomView room={data.body} etag={data.etag} />
}

function RoomView({ room, etag }: RoomSnapshot) {
  const { org } = useSession()
  const { write } = usePermissions()
  const zone = roomTimeZone(room, org.timezone)
  const refusing = useRefusing(room)
  const isEmpty = room.endpoints.length === 0
  const enrolment = write && <Enrolment room={room} zone={zone} />
  return (
    <Page
      title={room.name}
      above={<SiteBreadcrumbs label="Where the room is" location={room.location} />}
      beside={<RoomStateLabel state={room.state} />}
      actions={write && <RoomActions room={room} etag={etag} />}
    >
      <Group gap="lg" mt={-12}>
        <Text role="status">{reasonOf(room, refusing)}</Text>
        <LocalTime zone={zone} />
      </Group>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack>
            {!isEmpty && <SensorsNow room={room} zone={zone} />}
            <RoomDevices room={room} refusing={refusing} zone={zone} />
            {isEmpty && enrolment}
            <History room={room} zone={zone} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack>
            <LoadingBoundary>
              <RoomProfile room={room} />
            </LoadingBoundary>
            <LoadingBoundary>
              <Notes roomId={room.id} zone={zone} />
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
  return there === undefined ? null : <Text c="dimmed">It is {there}.</Text>
}

const NoRoom = () => (
  <Page title="No such room">
    <EmptyState title="There is no room at this address.">
      <p>It may have been deleted, or the address was mistyped. The audit log shows who deleted what.</p>
      <Group justify="center" gap="xs">
        <Button component={Link} to="/rooms">
          All rooms
        </Button>
        <Button component={Link} to="/audit" variant="default">
          Audit log
        </Button>
      </Group>
    </EmptyState>
  </Page>
)

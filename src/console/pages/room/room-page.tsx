// The room page shows the state of one room, its incidents, readings, devices, history, profile, notes and enrolment code.
import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { ApiError } from '../../../client/client.ts'
import { placedRoomName } from '../../../contract/fleet/room-name.ts'
import { operationQuery, useIsWriting } from '../../api.ts'
import { ConnectionsSection } from '../../domain/fleet/connections/connections-section.tsx'
import { useRestarts } from '../../domain/fleet/device/restarts.ts'
import { WaitingRestarts } from '../../domain/fleet/device/waiting-restarts.tsx'
import { AddDeviceDialog } from '../../domain/fleet/gateway/add-device.tsx'
import type { RoomSnapshot } from '../../domain/fleet/room/room.ts'
import { restartOf, stateWithRestarts } from '../../domain/fleet/room/room-restarts.ts'
import { isRoomReconnecting, RoomStateLabel } from '../../domain/fleet/room/room-state.tsx'
import { SiteBreadcrumbs } from '../../domain/fleet/site/room-link.tsx'
import { useSites } from '../../domain/fleet/site/sites.ts'
import { OpenIncidents } from '../../domain/incidents/open-incidents.tsx'
import { PastIncidents } from '../../domain/incidents/past-incidents.tsx'
import { useWorstIncidentOf } from '../../domain/incidents/place-incidents.ts'
import { SeverityLabel } from '../../domain/incidents/severity-label.tsx'
import { containingPlaces, SilenceNotice } from '../../domain/incidents/silence/silence-notice.tsx'
import { EmptyState, LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { PageSkeleton } from '../../parts/page/skeleton.tsx'
import { usePermissions, useSession } from '../../session.ts'
import { CurrentReadings } from './current-readings.tsx'
import { groupDevices, useDeviceGroups } from './device-groups.ts'
import { EnrolmentSection } from './enrolment-section.tsx'
import { HistorySection } from './history/history-section.tsx'
import { NotesSection } from './notes-section.tsx'
import { ProfileSection } from './profile-section.tsx'
import classes from './room.module.css'
import { RoomActions } from './room-actions.tsx'
import { RoomAttributes } from './room-attributes.tsx'
import { RoomDevices } from './room-devices.tsx'
import { RoomFactList } from './room-fact-list.tsx'
import { useAroundRoom } from './room-reads.ts'
import { stateReason, useRejectingDevices } from './room-reason.ts'
import { WaitingJobs } from './waiting-jobs.tsx'

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
  const isAround = useAroundRoom(id)
  if (isNotFound(error) && !(data && isWriting)) return <RoomNotFound />
  if (!data || !isAround) return <PageSkeleton />
  return <RoomView room={data.body} etag={data.etag} />
}

function RoomView({ room, etag }: RoomSnapshot) {
  const { org } = useSession()
  const { operate } = usePermissions()
  const { locationById } = useSites()
  // Silences, change windows and hours of channels count in this zone too.
  const zone = (room.location && locationById.get(room.location.id)?.timezone) ?? org.timezone
  const rejectingDevices = useRejectingDevices(room)
  const restarts = useRestarts()
  const restart = restartOf(room.endpoints, restarts)
  const offlineCount = room.endpoints.filter((device) => device.state === 'OFFLINE').length
  const state = stateWithRestarts(room.state, offlineCount, restart?.count ?? 0)
  const incidentsOf = useMemo(() => ({ roomId: room.id }), [room.id])
  const groups = useDeviceGroups(room.endpoints)
  const worstIncident = useWorstIncidentOf(incidentsOf)
  const isEmpty = room.endpoints.length === 0
  // The code stays open when the first device has enrolled: more devices may follow.
  const [isCodeOpen, code] = useDisclosure(isEmpty)
  const [isAdding, addDevice] = useDisclosure(false)
  const enrolment = operate && (
    <EnrolmentSection
      room={room}
      zone={zone}
      isOpen={isEmpty || isCodeOpen}
      onToggle={isEmpty ? undefined : code.toggle}
      onAddDevice={addDevice.open}
    />
  )
  return (
    <Page
      title={room.name}
      windowTitle={placedRoomName(room.name, room.location?.name)}
      above={<SiteBreadcrumbs label="Breadcrumb" location={room.location} />}
      beside={
        // The state is about devices only: a room with bad air or another open incident must not look healthy.
        worstIncident && state === 'HEALTHY' && restart === undefined ? (
          <SeverityLabel severity={worstIncident.severity} />
        ) : (
          <RoomStateLabel
            state={state}
            isReconnecting={isRoomReconnecting(state, room.endpoints)}
            restartingSinceMs={restart?.sinceMs}
          />
        )
      }
      actions={operate && <RoomActions room={room} etag={etag} />}
    >
      <Text role="status" mt={-12}>
        {stateReason(room, rejectingDevices, restarts)}
      </Text>
      <RoomFactList room={room} state={state} zone={zone} incidentsOf={incidentsOf} />
      <RoomTags tags={room.tags} />
      <OpenIncidents of={incidentsOf} />
      <WaitingRestarts devices={room.endpoints} />
      <SilenceNotice
        places={containingPlaces({
          roomId: room.id,
          locationId: room.location?.id,
          regionId: room.location?.region?.id,
        })}
      />
      <WaitingJobs roomId={room.id} />
      <div className={classes.layout}>
        <Stack className={classes.first ?? ''}>
          {!isEmpty && <CurrentReadings room={room} zone={zone} isRestarting={restart !== undefined} />}
          <RoomDevices groups={groups} rejectingDevices={rejectingDevices} restarts={restarts} zone={zone} />
          {isEmpty && enrolment}
        </Stack>
        <Stack className={classes.aside ?? ''}>
          <LoadingBoundary>
            <ProfileSection room={room} />
          </LoadingBoundary>
          <RoomAttributes room={room} />
          <LoadingBoundary>
            <NotesSection roomId={room.id} zone={zone} />
          </LoadingBoundary>
          {/* Paper has the code if the page shows it. */}
          {!isEmpty && <div data-screen-only={!isCodeOpen || undefined}>{enrolment}</div>}
        </Stack>
        <Stack className={classes.rest ?? ''}>
          {!isEmpty && (
            <ConnectionsSection
              of={incidentsOf}
              devices={groups.flatMap(groupDevices)}
              roomId={room.id}
              zone={zone}
              restarts={restarts}
            />
          )}
          <HistorySection room={room} zone={zone} />
          <PastIncidents of={incidentsOf} zone={zone} />
        </Stack>
      </div>
      <AddDeviceDialog room={room} opened={isAdding} onClose={addDevice.close} />
    </Page>
  )
}

function RoomTags({ tags }: { readonly tags: readonly string[] | undefined }) {
  if (!tags) return null
  return (
    <Group component="ul" aria-label="Tags" gap={6} m={0} p={0} style={{ listStyle: 'none' }}>
      {tags.map((tag) => (
        <li key={tag}>
          <Badge variant="default" tt="none">
            {tag}
          </Badge>
        </li>
      ))}
    </Group>
  )
}

function RoomNotFound() {
  const { roomId } = useParams({ from: '/rooms/$roomId' })
  const { auditLog } = usePermissions()
  return (
    <Page title="Room not found">
      <EmptyState title="There is no room at this address">
        <p>The room may have been deleted. Check the address{auditLog && ', or search the audit log'}.</p>
        <Group justify="center" gap="xs">
          <Button component={Link} to="/rooms">
            View all rooms
          </Button>
          {auditLog && (
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/audit" search={{ from: '30d', target: `room:${roomId}` }} {...props} />}
            >
              View audit log
            </Button>
          )}
        </Group>
      </EmptyState>
    </Page>
  )
}

// The overview page shows the worst incidents, rooms by state and region, a map of all rooms, air, devices and the activity of today.
import { Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { lazy } from 'react'
import { type DeviceTableRow, isReconnecting, isUnseen, useDeviceRows } from '../../domain/fleet/device/device-rows.ts'
import { needsAttention, roomNeedsAttention } from '../../domain/fleet/room/room-filter.ts'
import { type RoomTableRow, useRoomRows } from '../../domain/fleet/room/room-rows.ts'
import { LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { loadCode } from '../../parts/recovery/load-code.ts'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import { ActivitySection } from './activity-section.tsx'
import { AirSection } from './air-section.tsx'
import { DevicesByModelSection } from './devices-section.tsx'
import { FirmwareByModelSection } from './firmware-section.tsx'
import { GettingStarted } from './getting-started.tsx'
import { IncidentsSection } from './incidents-section.tsx'
import classes from './overview.module.css'
import { RegionsSection } from './regions-section.tsx'
import { PeopleTile, StateTiles } from './tiles.tsx'

const RoomMapSection = lazy(() =>
  loadCode(() => import('./room-map/room-map-section.tsx')).then((module) => ({ default: module.RoomMapSection })),
)

/** From this many rooms on, the map has the width of the page: 800 rooms then fit a window. */
const wideMapRoomCount = 150

export function OverviewPage() {
  const { rows, air, airError } = useRoomRows()
  const devices = useDeviceRows()
  const { auditLog } = usePermissions()
  if (devices.length === 0) {
    return (
      <Page title="Overview">
        <GettingStarted roomCount={rows.length} />
      </Page>
    )
  }
  const isWide = rows.length >= wideMapRoomCount
  const map = (
    <LoadingBoundary>
      <RoomMapSection rows={rows} />
    </LoadingBoundary>
  )
  return (
    <Page
      title="Overview"
      beside={<AttentionSummary rows={rows} devices={devices} />}
      actions={
        <Button component={Link} to="/wall" variant="default" visibleFrom="sm">
          Wall display
        </Button>
      }
    >
      <div className={classes.tiles}>
        <StateTiles rows={rows} />
        <PeopleTile rows={rows} />
      </div>
      <div className={classes.columns}>
        <div className={classes.stack}>
          <LoadingBoundary>
            <IncidentsSection rows={rows} />
          </LoadingBoundary>
          {isWide ? <RegionsSection rows={rows} /> : map}
        </div>
        <div className={classes.stack}>
          {!isWide && <RegionsSection rows={rows} />}
          <AirSection rows={rows} air={air} error={airError} />
          {auditLog && (
            <LoadingBoundary>
              <ActivitySection />
            </LoadingBoundary>
          )}
        </div>
        {isWide && <div className={classes.wide}>{map}</div>}
        <div className={classes.models}>
          <DevicesByModelSection rows={devices} />
          <FirmwareByModelSection rows={devices} />
        </div>
      </div>
    </Page>
  )
}

interface AttentionSummaryProps {
  readonly rows: readonly RoomTableRow[]
  readonly devices: readonly DeviceTableRow[]
}

function AttentionSummary({ rows, devices }: AttentionSummaryProps) {
  const attentionCount = rows.filter(roomNeedsAttention).length
  const unknown = [
    {
      label: 'Reconnecting',
      count: devices.filter(isReconnecting).length,
      title: 'The server restarted, and these devices are not back yet.',
    },
    {
      label: 'Cannot be seen',
      count: devices.filter(isUnseen).length,
      title: 'The gateway of these devices is away, or has just returned.',
    },
  ].filter(({ count }) => count > 0)
  return (
    <Text c="dimmed">
      {unknown.map(({ label, count, title }, index) => (
        <span key={label}>
          {index > 0 && ' · '}
          <Link to="/devices" search={{ connected: 'unknown' }} className={classes.reconnecting} title={title}>
            {label} ({count.toLocaleString('en-GB')})
          </Link>
        </span>
      ))}
      {unknown.length > 0 && attentionCount > 0 && ' · '}
      {attentionCount === 0 ? (
        unknown.length === 0 && 'All rooms with devices are healthy.'
      ) : (
        <>
          <Link
            to="/rooms"
            search={{ state: needsAttention }}
            aria-label={`${plural(attentionCount, 'room needs', 'rooms need')} attention`}
          >
            {attentionCount.toLocaleString('en-GB')}
          </Link>{' '}
          of <Link to="/rooms">{plural(rows.length, 'room')}</Link> {attentionCount === 1 ? 'needs' : 'need'} attention
        </>
      )}
    </Text>
  )
}

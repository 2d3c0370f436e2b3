// The overview page shows rooms by state, rooms that need attention, air, devices and the activity of today.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useDeviceRows } from '../../domain/device/device-rows.ts'
import { needsAttention, roomNeedsAttention } from '../../domain/room/room-filter.ts'
import { type RoomTableRow, useRoomRows } from '../../domain/room/room-rows.ts'
import { LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import { ActivitySection } from './activity-section.tsx'
import { AirSection } from './air-section.tsx'
import { AttentionSection } from './attention-section.tsx'
import { DevicesByFirmwareSection, DevicesByModelSection } from './devices-sections.tsx'
import { GettingStarted } from './getting-started.tsx'
import classes from './overview.module.css'
import { PeopleTile, StateTiles } from './tiles.tsx'

export function OverviewPage() {
  const { rows, air, airError } = useRoomRows()
  const devices = useDeviceRows()
  const { audit } = usePermissions()
  if (devices.length === 0) {
    return (
      <Page title="Overview">
        <GettingStarted roomCount={rows.length} />
      </Page>
    )
  }
  return (
    <Page title="Overview" beside={<AttentionSummary rows={rows} />}>
      <div className={classes.tiles}>
        <StateTiles rows={rows} />
        <PeopleTile rows={rows} />
      </div>
      <div className={classes.twoColumns}>
        <AttentionSection rows={rows} />
        <AirSection rows={rows} air={air} error={airError} />
      </div>
      <div className={classes.threeColumns}>
        <DevicesByModelSection rows={devices} />
        <DevicesByFirmwareSection rows={devices} />
        {audit && (
          <LoadingBoundary>
            <ActivitySection />
          </LoadingBoundary>
        )}
      </div>
    </Page>
  )
}

function AttentionSummary({ rows }: { readonly rows: readonly RoomTableRow[] }) {
  const attentionCount = rows.filter(roomNeedsAttention).length
  return (
    <Text c="dimmed">
      {attentionCount === 0 ? (
        'All rooms with devices are healthy.'
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

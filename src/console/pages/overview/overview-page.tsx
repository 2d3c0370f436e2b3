// Is everything all right? Rooms by state, who needs somebody, the air, the devices, and what changed today.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useDeviceRows } from '../../domain/device/device-rows.ts'
import { needsAttention, roomNeedsAttention } from '../../domain/room/room-filter.ts'
import { type RoomTableRow, useRoomRows } from '../../domain/room/room-rows.ts'
import { LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { plural } from '../../parts/text/words.ts'
import { AirSection } from './air-section.tsx'
import { ChangesSection } from './changes-section.tsx'
import { FirmwareSection, ModelsSection } from './devices-sections.tsx'
import { GettingStarted } from './getting-started.tsx'
import { NeedSection } from './need-section.tsx'
import classes from './overview.module.css'
import { PeopleTile, StateTiles } from './tiles.tsx'

export function OverviewPage() {
  const { rows, air, airError } = useRoomRows()
  const devices = useDeviceRows()
  if (devices.length === 0) {
    return (
      <Page title="Overview">
        <GettingStarted roomCount={rows.length} />
      </Page>
    )
  }
  return (
    <Page title="Overview" beside={<Summary rows={rows} />}>
      <div className={classes.tiles}>
        <StateTiles rows={rows} />
        <PeopleTile rows={rows} />
      </div>
      <div className={classes.halves}>
        <NeedSection rows={rows} />
        <AirSection rows={rows} air={air} error={airError} />
      </div>
      <div className={classes.thirds}>
        <ModelsSection rows={devices} />
        <FirmwareSection rows={devices} />
        <LoadingBoundary>
          <ChangesSection />
        </LoadingBoundary>
      </div>
    </Page>
  )
}

function Summary({ rows }: { readonly rows: readonly RoomTableRow[] }) {
  const wrong = rows.filter(roomNeedsAttention).length
  return (
    <Text c="dimmed">
      {wrong === 0 ? (
        'Every room that has devices is all right.'
      ) : (
        <>
          <Link to="/rooms" search={{ state: needsAttention }}>
            {plural(wrong, 'room')}
          </Link>{' '}
          of <Link to="/rooms">{rows.length.toLocaleString('en-GB')}</Link> {wrong === 1 ? 'needs' : 'need'} somebody.
        </>
      )}
    </Text>
  )
}

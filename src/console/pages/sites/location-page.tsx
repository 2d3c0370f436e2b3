// The page of a location: its rooms by state, incidents, change window, time zone, address and contact, and its last week.
import { Button, Menu, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { useIsWriting } from '../../api.ts'
import { ContactText } from '../../domain/fleet/fields/contact-text.tsx'
import { NewRoomButton } from '../../domain/fleet/room/new-room-button.tsx'
import { locationLabel } from '../../domain/fleet/site/sites.ts'
import { OpenIncidents } from '../../domain/incidents/open-incidents.tsx'
import { PastIncidents } from '../../domain/incidents/past-incidents.tsx'
import { SilenceButton } from '../../domain/incidents/silence/silence-button.tsx'
import { containingPlaces, SilenceNotice } from '../../domain/incidents/silence/silence-notice.tsx'
import { ActionsMenu } from '../../parts/page/actions-menu.tsx'
import { BinIcon, EditIcon } from '../../parts/page/icons.tsx'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import { PageSkeleton } from '../../parts/page/skeleton.tsx'
import { type Fact, FactList } from '../../parts/text/fact-list.tsx'
import { useNow } from '../../parts/text/now.ts'
import { zonedTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { usePermissions, useSession } from '../../session.ts'
import { useFollowLinks } from './follow-links.ts'
import { LastWeekSection, useLastWeek } from './last-week.tsx'
import { LocationRooms } from './location-rooms.tsx'
import { windowName } from './place-texts.ts'
import { SiteDialogs } from './site-dialogs.tsx'
import type { SiteTask } from './site-tasks.ts'
import type { LocationNode } from './site-tree.ts'
import classes from './sites.module.css'
import { SitesBreadcrumbs } from './sites-breadcrumbs.tsx'
import { roomsUrl, StateCounts } from './state-counts.tsx'
import { useArePlaceReadsDone } from './use-place-reads.ts'
import { locationsOf, type SiteTreeWithRooms, useSiteTree } from './use-site-tree.ts'

export function LocationPage() {
  const { locationId } = useParams({ from: '/sites/locations/$locationId' })
  const sites = useSiteTree()
  const isWriting = useIsWriting()
  const location = useMemo(
    () => locationsOf(sites.tree).find(({ id }) => String(id) === locationId),
    [sites.tree, locationId],
  )
  const isRead = useArePlaceReadsDone({ locationId: Number(locationId) }, location !== undefined)
  if (location && !isRead) return <PageSkeleton />
  if (location) return <LocationView key={location.id} location={location} sites={sites} />
  return isWriting ? <PageSkeleton /> : <SiteNotFound kind="location" />
}

interface LocationViewProps {
  readonly location: LocationNode
  readonly sites: SiteTreeWithRooms
}

function LocationView({ location, sites: { tree, rooms } }: LocationViewProps) {
  const { id, name, region } = location
  const { org } = useSession()
  const may = usePermissions()
  const navigate = useNavigate()
  const [task, setTask] = useState<SiteTask>()
  const [opened, dialog] = useDisclosure(false)
  const start = (kind: 'edit-location' | 'delete-location') => {
    setTask({ kind, id })
    dialog.open()
  }
  const leave = useCallback(() => navigate({ to: '/sites' }), [navigate])
  const place = useMemo(() => ({ locationId: id }), [id])
  const week = useLastWeek(place)
  const search = { location: String(id) }
  return (
    <Page
      title={name}
      windowTitle={locationLabel(location)}
      above={<SitesBreadcrumbs region={region} />}
      actions={
        <>
          {may.operate && <SilenceButton place={place} name={name} />}
          {may.write && (
            <>
              <Button variant="default" leftSection={<EditIcon />} onClick={() => start('edit-location')}>
                Edit
              </Button>
              <NewRoomButton location={String(id)} />
              <ActionsMenu label="More actions">
                <Menu.Item c="var(--rk-offline)" leftSection={<BinIcon />} onClick={() => start('delete-location')}>
                  Delete location
                </Menu.Item>
              </ActionsMenu>
            </>
          )}
        </>
      }
    >
      <LocationFacts location={location} zone={location.timezone ?? org.timezone} />
      <SilenceNotice places={containingPlaces({ locationId: id, regionId: region?.id })} />
      <OpenIncidents
        of={place}
        all={
          <Text span fz="sm">
            <Link to="/incidents" search={search}>
              View in Incidents
            </Link>
          </Text>
        }
      />
      <LastWeekSection week={week} place={place} />
      <LocationRooms locationId={id} week={week} />
      <PastIncidents of={place} zone={location.timezone ?? org.timezone} />
      <SiteDialogs task={task} opened={opened} onClose={dialog.close} tree={tree} rooms={rooms} onDeleted={leave} />
    </Page>
  )
}

function LocationFacts({ location, zone }: { readonly location: LocationNode; readonly zone: string }) {
  const { id, name, rooms, address, contact, externalId } = location
  const now = useNow()
  const followLinks = useFollowLinks()
  const facts: readonly Fact[] = [
    [
      'Rooms',
      rooms === 0 ? (
        'No rooms'
      ) : (
        <span key="rooms" className={classes.roomFacts}>
          <a href={roomsUrl('location', id)}>{plural(rooms, 'room')}</a>
          <StateCounts name={name} tally={location} href={roomsUrl('location', id)} />
        </span>
      ),
    ],
    ['Change window', windowName(location)],
    ['Time zone', `${zone.replaceAll('_', ' ')}${location.timezone ? '' : ' (organisation)'}`],
    ['Local time', zonedTime(now, zone, now)],
    ['Contact', contact && <ContactText key="contact" contact={contact} />],
    [
      'Address',
      address && (
        <span key="address" className={classes.address}>
          {address}
        </span>
      ),
    ],
    ['External ID', externalId],
  ]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handler makes the router follow the links inside
    // biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link is a click
    <div onClick={followLinks}>
      <FactList label="About this location" facts={facts} />
    </div>
  )
}

export const SiteNotFound = ({ kind }: { readonly kind: 'location' | 'region' }) => (
  <Page title={kind === 'location' ? 'Location not found' : 'Region not found'}>
    <EmptyState title={`There is no ${kind} at this address`}>
      <p>It may have been deleted, or your access does not include it.</p>
      <Button component={Link} to="/sites">
        View all sites
      </Button>
    </EmptyState>
  </Page>
)

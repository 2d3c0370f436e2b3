// The page of a region: its locations with their rooms, incidents, change windows and time zones, and its last week.
import { Button, Menu, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { naturalSortKey } from '../../../contract/search-text.ts'
import { operationQuery, useIsWriting } from '../../api.ts'
import { OpenIncidents } from '../../domain/incidents/open-incidents.tsx'
import { PastIncidents } from '../../domain/incidents/past-incidents.tsx'
import { useOpenIncidentsOf } from '../../domain/incidents/place-incidents.ts'
import { SilenceButton } from '../../domain/incidents/silence/silence-button.tsx'
import { containingPlaces, SilenceNotice } from '../../domain/incidents/silence/silence-notice.tsx'
import { ActionsMenu } from '../../parts/page/actions-menu.tsx'
import { BinIcon, EditIcon, PlusIcon } from '../../parts/page/icons.tsx'
import { Page } from '../../parts/page/page.tsx'
import { PageSkeleton } from '../../parts/page/skeleton.tsx'
import { FactList } from '../../parts/text/fact-list.tsx'
import { plural } from '../../parts/text/words.ts'
import { usePermissions, useSession } from '../../session.ts'
import { useFollowLinks } from './follow-links.ts'
import { LastWeekSection, useLastWeek } from './last-week.tsx'
import { SiteNotFound } from './location-page.tsx'
import { type LocationOfRegion, RegionLocations } from './region-locations.tsx'
import { SiteDialogs } from './site-dialogs.tsx'
import type { SiteTask } from './site-tasks.ts'
import type { RegionNode } from './site-tree.ts'
import classes from './sites.module.css'
import { SitesBreadcrumbs } from './sites-breadcrumbs.tsx'
import { roomsUrl, StateCounts } from './state-counts.tsx'
import { useArePlaceReadsDone } from './use-place-reads.ts'
import { type SiteTreeWithRooms, useSiteTree } from './use-site-tree.ts'

export function RegionPage() {
  const { regionId } = useParams({ from: '/sites/regions/$regionId' })
  const sites = useSiteTree()
  const isWriting = useIsWriting()
  const region = useMemo(() => sites.tree.regions.find(({ id }) => String(id) === regionId), [sites.tree, regionId])
  const isRead = useArePlaceReadsDone({ regionId: Number(regionId) }, region !== undefined)
  if (region && !isRead) return <PageSkeleton />
  if (region) return <RegionView key={region.id} region={region} sites={sites} />
  return isWriting ? <PageSkeleton /> : <SiteNotFound kind="region" />
}

interface RegionViewProps {
  readonly region: RegionNode
  readonly sites: SiteTreeWithRooms
}

function RegionView({ region, sites: { tree, rooms } }: RegionViewProps) {
  const { id, name } = region
  const { org } = useSession()
  const may = usePermissions()
  const navigate = useNavigate()
  const [task, setTask] = useState<SiteTask>()
  const [opened, dialog] = useDisclosure(false)
  const mayChange = may.write && may.everywhere
  const start = (next: SiteTask) => {
    setTask(next)
    dialog.open()
  }
  const leave = useCallback(() => navigate({ to: '/sites' }), [navigate])
  const place = useMemo(() => ({ regionId: id }), [id])
  const week = useLastWeek(place)
  return (
    <Page
      title={name}
      above={<SitesBreadcrumbs />}
      actions={
        <>
          {may.operate && <SilenceButton place={place} name={name} />}
          {mayChange && (
            <Button variant="default" leftSection={<EditIcon />} onClick={() => start({ kind: 'edit-region', id })}>
              Edit
            </Button>
          )}
          {may.write && (
            <Button leftSection={<PlusIcon />} onClick={() => start({ kind: 'new-location', regionId: id })}>
              New location
            </Button>
          )}
          {mayChange && (
            <ActionsMenu label="More actions">
              <Menu.Item
                c="var(--rk-offline)"
                leftSection={<BinIcon />}
                onClick={() => start({ kind: 'delete-region', id })}
              >
                Delete region
              </Menu.Item>
            </ActionsMenu>
          )}
        </>
      }
    >
      <RegionFacts region={region} />
      <SilenceNotice places={containingPlaces({ regionId: id })} />
      <OpenIncidents
        of={place}
        all={
          <Text span fz="sm">
            <Link to="/incidents" search={{ region: String(id) }}>
              View in Incidents
            </Link>
          </Text>
        }
      />
      <LastWeekSection week={week} place={place} />
      <RegionLocations rows={useLocationRows(region, week)} />
      <PastIncidents of={place} zone={org.timezone} />
      <SiteDialogs task={task} opened={opened} onClose={dialog.close} tree={tree} rooms={rooms} onDeleted={leave} />
    </Page>
  )
}

function useLocationRows(region: RegionNode, week: ReturnType<typeof useLastWeek>): readonly LocationOfRegion[] {
  const { org } = useSession()
  const incidents = useOpenIncidentsOf({ regionId: region.id })
  return useMemo(() => {
    const isReading = !week.error && !(week.use && week.air)
    const useOf = new Map(week.use?.map(({ location, use }) => [location?.id, use]))
    const airOf = new Map(week.air?.map(({ location, outsideShare }) => [location?.id, outsideShare]))
    return region.locations.map((location) => ({
      location,
      sortKey: naturalSortKey(location.name),
      zone: location.timezone ?? org.timezone,
      incidentCount: incidents?.filter(({ locationIds }) => locationIds.includes(location.id)).length ?? 0,
      use: useOf.get(location.id),
      airOutside: airOf.get(location.id),
      isReading,
    }))
  }, [region, week.use, week.air, week.error, incidents, org.timezone])
}

function RegionFacts({ region }: { readonly region: RegionNode }) {
  const { id, name, rooms, locationCount } = region
  const { externalId } = useQuery(operationQuery('regionsGet', { id })).data?.body ?? {}
  const followLinks = useFollowLinks()
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handler makes the router follow the links inside
    // biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link is a click
    <div onClick={followLinks}>
      <FactList
        label="About this region"
        facts={[
          [
            'Rooms',
            rooms === 0 ? (
              'No rooms'
            ) : (
              <span key="rooms" className={classes.roomFacts}>
                <a href={roomsUrl('region', id)}>{plural(rooms, 'room')}</a>
                <StateCounts name={name} tally={region} href={roomsUrl('region', id)} />
              </span>
            ),
          ],
          ['Locations', String(locationCount)],
          ['External ID', externalId],
        ]}
      />
    </div>
  )
}

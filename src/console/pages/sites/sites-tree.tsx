// Shows the tree of regions and locations with a search, expandable branches and keyboard navigation.
import { Box, Button, Card, Group, Text, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, useCallback, useDeferredValue, useMemo, useState } from 'react'
import { SearchIcon } from '../../parts/page/icons.tsx'
import { EmptyState } from '../../parts/page/page.tsx'
import { useDensity } from '../../parts/table/density.ts'
import { DensitySwitch } from '../../parts/table/density-switch.tsx'
import { useRowSelection } from '../../parts/table/row-selection.ts'
import { SelectionBar } from '../../parts/table/selection-bar.tsx'
import { plural } from '../../parts/text/words.ts'
import { useSession } from '../../session.ts'
import { ChangeSites } from './bulk/change-sites.tsx'
import { useFollowLinks } from './follow-links.ts'
import { useRowMenu } from './row-menu.tsx'
import { Branch, LocationRow, RegionBranch } from './site-rows.tsx'
import type { StartTask } from './site-tasks.ts'
import { filterSiteTree, type LocationNode, type SiteTree } from './site-tree.ts'
import classes from './sites.module.css'
import { locationsOf } from './use-site-tree.ts'

interface SitesTreeProps {
  readonly tree: SiteTree
  readonly start: StartTask | undefined
  /** Sessions that may not operate get undefined. */
  readonly silence: StartTask | undefined
  readonly mayChangeRegions: boolean
}

/** With more locations than this, all regions start collapsed. */
const maxExpandedLocations = 60
/** Locations without a region are in a branch with this id. */
const noRegionId = 0

export function SitesTree({ tree, start, silence, mayChangeRegions }: SitesTreeProps) {
  const { org } = useSession()
  const [density] = useDensity()
  const [text, setText] = useState('')
  const query = useDeferredValue(text.trim())
  const shown = useMemo(() => filterSiteTree(tree, query), [tree, query])
  const locationCount = useMemo(
    () => tree.regions.reduce((sum, region) => sum + region.locationCount, tree.locationsWithoutRegion.length),
    [tree],
  )
  const [isExpandedByDefault, setExpandedByDefault] = useState(locationCount <= maxExpandedLocations)
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set())
  const toggle = useCallback((id: number) => setToggled((before) => before.symmetricDifference(new Set([id]))), [])
  const isOpen = (id: number) => query !== '' || toggled.has(id) !== isExpandedByDefault
  const toggleAll = () => {
    setExpandedByDefault(!isExpandedByDefault)
    setToggled(new Set())
  }
  const followLinks = useFollowLinks()
  const { open: openMenu, menu } = useRowMenu({ start, silence, mayChangeRegions })
  const shownIds = useMemo(() => locationsOf(shown).map(({ id }) => id), [shown])
  const picked = useRowSelection('locations', shownIds)
  const selection = start && picked
  const selected = useMemo(() => locationsOf(tree).filter(({ id }) => picked.keys.has(id)), [tree, picked.keys])
  /** The locations as they were when the dialog opened. */
  const [changing, setChanging] = useState<readonly LocationNode[]>()
  const locationRow = (location: LocationNode) => (
    <LocationRow
      key={location.id}
      location={location}
      orgZone={org.timezone}
      openMenu={start || silence ? openMenu : undefined}
      isSelected={picked.keys.has(location.id)}
      onSelect={selection?.toggle}
    />
  )

  if (tree.regions.length === 0 && locationCount === 0)
    return <NoSites tree={tree} start={mayChangeRegions ? start : undefined} />
  const isEmpty = shown.regions.length === 0 && shown.locationsWithoutRegion.length === 0
  return (
    <>
      <Group justify="space-between" gap="sm">
        <TextInput
          aria-label="Find a region or location"
          placeholder="Find a region or location"
          leftSection={<SearchIcon />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          w={{ base: '100%', xs: 320 }}
        />
        <Group gap="sm">
          <Text fz="sm" c="dimmed">
            {plural(tree.regions.length, 'region')}, {plural(locationCount, 'location')}
          </Text>
          <Button variant="subtle" size="xs" onClick={toggleAll} disabled={query !== ''}>
            {isExpandedByDefault ? 'Collapse all' : 'Expand all'}
          </Button>
          <DensitySwitch />
        </Group>
      </Group>
      {selected.length > 0 && (
        <SelectionBar selection={picked} count={selected.length}>
          <Button variant="subtle" size="compact-sm" style={{ flex: 'none' }} onClick={() => setChanging(selected)}>
            Set change window and time zone
          </Button>
        </SelectionBar>
      )}
      <Card padding={0} bg="var(--rk-panel)" pos="relative">
        <div className={`${classes.row} ${classes.head}`} aria-hidden="true">
          <span>Location</span>
          <span className={classes.window}>Change window</span>
          <span className={classes.zone}>Time zone</span>
          <span className={classes.rooms}>Rooms</span>
          <span className={classes.states}>State</span>
          <span className={classes.actions} />
        </div>
        <Box
          component="ul"
          className={classes.tree}
          data-density={density}
          aria-label="Regions and locations"
          onKeyDown={moveFocus}
          onClick={followLinks}
        >
          {shown.regions.map((region) => (
            <RegionBranch
              key={region.id}
              region={region}
              isOpen={isOpen(region.id)}
              onToggle={toggle}
              openMenu={start && openMenu}
              selection={selection}
            >
              {region.locations.map(locationRow)}
            </RegionBranch>
          ))}
          {shown.locationsWithoutRegion.length > 0 && (
            <Branch
              id="region-none"
              name="No region"
              count={shown.locationsWithoutRegion.length}
              total={tree.locationsWithoutRegion.length}
              isOpen={isOpen(noRegionId)}
              onToggle={() => toggle(noRegionId)}
              empty=""
              beside={null}
              selection={selection}
              locationIds={shown.locationsWithoutRegion.map(({ id }) => id)}
            >
              {shown.locationsWithoutRegion.map(locationRow)}
            </Branch>
          )}
        </Box>
        {isEmpty && <EmptyState title={`No matches for “${query}”`}>Try another part of the name.</EmptyState>}
        {query === '' && <RoomsWithoutLocation tree={tree} />}
        {menu}
      </Card>
      {changing && <ChangeSites locations={changing} onClose={() => setChanging(undefined)} />}
    </>
  )
}

const RoomsWithoutLocation = ({ tree: { roomsWithoutLocation } }: { readonly tree: SiteTree }) =>
  roomsWithoutLocation.rooms > 0 && (
    <Text fz="sm" className={classes.withoutLocation}>
      <Link to="/rooms" search={{ location: 'none' }}>
        {plural(roomsWithoutLocation.rooms, 'room')} without a location
      </Link>
    </Text>
  )

const NoSites = ({ tree, start }: Pick<SitesTreeProps, 'tree' | 'start'>) => (
  <Card bg="var(--rk-panel)">
    <EmptyState title="No sites yet">
      Locations are buildings or floors. Regions group locations. Use them to filter lists.
      {start && (
        <Group justify="center" mt="md">
          <Button onClick={() => start({ kind: 'new-location', regionId: undefined })}>Create location</Button>
        </Group>
      )}
    </EmptyState>
    <RoomsWithoutLocation tree={tree} />
  </Card>
)

/** The up and down keys move the focus from row to row; right expands a region and left collapses it. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const focused = (event.target as HTMLElement).closest<HTMLElement>('[data-tree-row]')
  if (!focused) return
  const isOpen = focused.getAttribute('aria-expanded')
  if ((event.key === 'ArrowRight' && isOpen === 'false') || (event.key === 'ArrowLeft' && isOpen === 'true')) {
    focused.click()
    return
  }
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-tree-row]')]
  const index = rows.indexOf(focused)
  const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  rows[next]?.focus()
}

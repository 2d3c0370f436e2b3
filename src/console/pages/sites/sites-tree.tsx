// The tree itself, as nested lists: what is shown of it, what is open, and the keys that walk through it.
import { Box, Button, Card, Group, Text, TextInput } from '@mantine/core'
import { Link, useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, type MouseEvent, useCallback, useDeferredValue, useMemo, useState } from 'react'
import { SearchIcon } from '../../parts/page/icons.tsx'
import { EmptyState } from '../../parts/page/page.tsx'
import { plural } from '../../parts/text/words.ts'
import { Branch, LocationRow, RegionBranch } from './site-rows.tsx'
import type { StartTask } from './site-tasks.ts'
import { type SiteTree, withWords } from './site-tree.ts'
import classes from './sites.module.css'

interface SitesTreeProps {
  readonly tree: SiteTree
  readonly start: StartTask | undefined
}

/** With more locations than this the regions begin closed. */
const fewLocations = 60
/** The branch of what is in no region. */
const loose = 0

export function SitesTree({ tree, start }: SitesTreeProps) {
  const [text, setText] = useState('')
  const wanted = useDeferredValue(text.trim())
  const shown = useMemo(() => withWords(tree, wanted), [tree, wanted])
  const locationCount = useMemo(
    () => tree.regions.reduce((sum, region) => sum + region.locationCount, tree.loose.length),
    [tree],
  )
  const [startsOpen, setStartsOpen] = useState(locationCount <= fewLocations)
  const [turned, setTurned] = useState<ReadonlySet<number>>(new Set())
  const toggle = useCallback((id: number) => setTurned((before) => before.symmetricDifference(new Set([id]))), [])
  const isOpen = (id: number) => wanted !== '' || turned.has(id) !== startsOpen
  const turnAll = () => {
    setStartsOpen(!startsOpen)
    setTurned(new Set())
  }

  const { history } = useRouter()
  /** The links of the rows are plain ones: here they become steps inside the console. */
  const follow = (event: MouseEvent) => {
    const link = (event.target as HTMLElement).closest('a')
    if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    history.push(link.pathname + link.search)
  }

  if (tree.regions.length === 0 && locationCount === 0) return <NoSites tree={tree} start={start} />
  const isNothing = shown.regions.length === 0 && shown.loose.length === 0
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
          <Button variant="subtle" size="xs" onClick={turnAll} disabled={wanted !== ''}>
            {startsOpen ? 'Close all' : 'Open all'}
          </Button>
        </Group>
      </Group>
      <Card padding={0} bg="var(--rk-panel)">
        <Box
          component="ul"
          className={classes.tree}
          aria-label="Regions and locations"
          onKeyDown={walk}
          onClick={follow}
        >
          {shown.regions.map((region) => (
            <RegionBranch key={region.id} region={region} isOpen={isOpen(region.id)} onToggle={toggle} start={start} />
          ))}
          {shown.loose.length > 0 && (
            <Branch
              id="region-none"
              name="Not in a region"
              count={shown.loose.length}
              of={tree.loose.length}
              isOpen={isOpen(loose)}
              onToggle={() => toggle(loose)}
              empty=""
              beside={null}
            >
              {shown.loose.map((location) => (
                <LocationRow key={location.id} location={location} start={start} />
              ))}
            </Branch>
          )}
        </Box>
        {isNothing && (
          <EmptyState title={`Nothing has “${wanted}” in its name`}>
            Try fewer letters, or another part of the name.
          </EmptyState>
        )}
        {wanted === '' && <Homeless tree={tree} />}
      </Card>
    </>
  )
}

const Homeless = ({ tree: { homeless } }: { readonly tree: SiteTree }) =>
  homeless.rooms > 0 && (
    <Text fz="sm" className={classes.homeless}>
      <Link to="/rooms" search={{ location: 'none' }}>
        Rooms without a location: {homeless.rooms.toLocaleString('en-GB')}
      </Link>
    </Text>
  )

const NoSites = ({ tree, start }: SitesTreeProps) => (
  <Card bg="var(--rk-panel)">
    <EmptyState title="No sites yet">
      A location is where rooms are: a building, or a floor of one. Regions group locations, if you have many. With
      both, rooms are easier to find, and lists can be narrowed down to one place.
      {start && (
        <Group justify="center" mt="md">
          <Button onClick={() => start({ kind: 'new-location', regionId: undefined })}>
            Create the first location
          </Button>
        </Group>
      )}
    </EmptyState>
    <Homeless tree={tree} />
  </Card>
)

/** Up and down go from row to row, right opens a region and left closes it. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const at = (event.target as HTMLElement).closest<HTMLElement>('[data-step]')
  if (!at) return
  const isOpen = at.getAttribute('aria-expanded')
  if ((event.key === 'ArrowRight' && isOpen === 'false') || (event.key === 'ArrowLeft' && isOpen === 'true')) {
    at.click()
    return
  }
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-step]')]
  const here = rows.indexOf(at)
  const next = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: rows.length - 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  rows[next]?.focus()
}

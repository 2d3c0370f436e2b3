// Shows the rows of the sites tree: regions that expand, and the locations in them.
import { Text } from '@mantine/core'
import { memo, type ReactNode } from 'react'
import { pathUnderBase } from '../../base-path.ts'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { MoreIcon } from '../../parts/page/icons.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import type { RowSelection } from '../../parts/table/row-selection.ts'
import { plural } from '../../parts/text/words.ts'
import { windowName } from './place-texts.ts'
import type { OpenRowMenu } from './row-menu.tsx'
import type { LocationNode, RegionNode, RoomTally } from './site-tree.ts'
import classes from './sites.module.css'
import { roomsUrl, StateCounts } from './state-counts.tsx'

interface SelectBoxProps {
  readonly name: string
  readonly isSelected: boolean
  /** Some of the locations of a region are selected. */
  readonly isPart?: boolean
  readonly onChange: (isSelected: boolean) => void
}

/** A plain checkbox is used, because there can be a thousand rows. */
const SelectBox = ({ name, isSelected, isPart = false, onChange }: SelectBoxProps) => (
  <input
    type="checkbox"
    className={classes.select}
    aria-label={`Select ${name}`}
    checked={isSelected}
    ref={(box) => {
      if (box) box.indeterminate = isPart
    }}
    onChange={(event) => onChange(event.currentTarget.checked)}
  />
)

interface BranchProps {
  readonly id: string
  readonly name: string
  /** The page of the region. The branch of locations without a region has none. */
  readonly href?: string
  /** The filter shows this many locations. */
  readonly count: number
  readonly total: number
  readonly isOpen: boolean
  readonly onToggle: () => void
  /** The row of the branch shows these numbers and actions. */
  readonly beside: ReactNode
  /** A branch without locations shows this text. */
  readonly empty: string
  /** Sessions that may not write get undefined. */
  readonly selection: RowSelection | undefined
  readonly locationIds: readonly number[]
  readonly children: ReactNode
}

/** A branch is a region, or holds all locations without one. */
export const Branch = ({
  id,
  name,
  href,
  count,
  total,
  isOpen,
  onToggle,
  beside,
  empty,
  selection,
  locationIds,
  children,
}: BranchProps) => (
  <li className={classes.branch}>
    <div className={`${classes.row} ${classes.region}`}>
      <span className={classes.branchName}>
        {selection && locationIds.length > 0 && (
          <SelectBox name={`all in ${name}`} {...groupState(selection, locationIds)} />
        )}
        <DisclosureButton
          isOpen={isOpen}
          aria-controls={isOpen ? id : undefined}
          aria-label={`Locations: ${name}`}
          onClick={onToggle}
          data-tree-row
        />
        {href ? (
          <a href={href} className={classes.name} title={name}>
            {name}
          </a>
        ) : (
          <span className={classes.name}>{name}</span>
        )}
        <Text span fz="sm" c="dimmed" fw={400} className={classes.count}>
          {count < total ? `${count} of ${plural(total, 'location')}` : plural(total, 'location')}
        </Text>
      </span>
      {beside}
    </div>
    {isOpen && count > 0 && (
      <ul id={id} className={classes.locations} aria-label={`Locations: ${name}`}>
        {children}
      </ul>
    )}
    {isOpen && count === 0 && (
      <Text id={id} fz="sm" c="dimmed" className={classes.empty}>
        {empty}
      </Text>
    )}
  </li>
)

function groupState(selection: RowSelection, ids: readonly number[]) {
  const count = ids.filter((id) => selection.keys.has(id)).length
  return {
    isSelected: count === ids.length,
    isPart: count > 0 && count < ids.length,
    onChange: (isSelected: boolean) => selection.setSome(ids, isSelected),
  }
}

interface TallyProps {
  readonly name: string
  readonly tally: RoomTally
  readonly href: string
}

const Tally = ({ name, tally, href }: TallyProps) => (
  <>
    <span className={classes.rooms}>
      {tally.rooms > 0 ? (
        <a href={href}>
          {plural(tally.rooms, 'room')}
          <VisuallyHidden> in {name}</VisuallyHidden>
        </a>
      ) : (
        <span className={classes.dimmed}>No rooms</span>
      )}
    </span>
    <span className={classes.states} data-short>
      <StateCounts name={name} tally={tally} href={href} />
    </span>
  </>
)

/** A plain button is used, because there can be a thousand rows; they share one menu. */
const MenuButton = ({ name, open }: { readonly name: string; readonly open: (button: HTMLButtonElement) => void }) => (
  <button
    type="button"
    className={classes.action}
    aria-label={`Actions for ${name}`}
    aria-haspopup="menu"
    onClick={(event) => open(event.currentTarget)}
  >
    <MoreIcon />
  </button>
)

interface RegionBranchProps {
  readonly region: RegionNode
  readonly isOpen: boolean
  readonly onToggle: (id: number) => void
  readonly openMenu: OpenRowMenu | undefined
  readonly selection: RowSelection | undefined
  readonly children: ReactNode
}

export const RegionBranch = ({ region, isOpen, onToggle, openMenu, selection, children }: RegionBranchProps) => (
  <Branch
    id={`region-${region.id}`}
    name={region.name}
    href={pathUnderBase(`/sites/regions/${region.id}`)}
    count={region.locations.length}
    total={region.locationCount}
    isOpen={isOpen}
    onToggle={() => onToggle(region.id)}
    empty="No locations yet"
    selection={selection}
    locationIds={region.locations.map((location) => location.id)}
    beside={
      <>
        <span className={classes.window} />
        <span className={classes.zone} />
        <Tally name={region.name} tally={region} href={roomsUrl('region', region.id)} />
        <span className={classes.actions}>
          {openMenu && <MenuButton name={region.name} open={(button) => openMenu({ region }, button)} />}
        </span>
      </>
    }
  >
    {children}
  </Branch>
)

interface LocationRowProps {
  readonly location: LocationNode
  /** The time zone of the organisation, which a location without one has. */
  readonly orgZone: string
  /** Callers without any action get undefined. */
  readonly openMenu: OpenRowMenu | undefined
  readonly isSelected: boolean
  /** Sessions that may not write get undefined. */
  readonly onSelect: ((id: number) => void) | undefined
}

export const LocationRow = memo(
  ({ location, orgZone, openMenu, isSelected, onSelect }: LocationRowProps) => {
    const { id, name, changeWindow, timezone } = location
    return (
      <li className={`${classes.row} ${classes.location}`}>
        <span className={classes.locationName}>
          {onSelect && <SelectBox name={name} isSelected={isSelected} onChange={() => onSelect(id)} />}
          <a href={pathUnderBase(`/sites/locations/${id}`)} className={classes.name} title={name} data-tree-row>
            {name}
          </a>
        </span>
        <span className={classes.window} data-unset={changeWindow === undefined || undefined}>
          <VisuallyHidden>Change window: </VisuallyHidden>
          {windowName(location)}
        </span>
        <span className={classes.zone} data-unset={timezone === undefined || undefined}>
          <VisuallyHidden>Time zone: </VisuallyHidden>
          {(timezone ?? orgZone).replaceAll('_', ' ')}
          {timezone === undefined && <VisuallyHidden>, of the organisation</VisuallyHidden>}
        </span>
        <Tally name={name} tally={location} href={roomsUrl('location', id)} />
        <span className={classes.actions}>
          {openMenu && <MenuButton name={name} open={(button) => openMenu({ location }, button)} />}
        </span>
      </li>
    )
  },
  // The tree is rebuilt whenever a room changes, while most rows stay equal.
  (a, b) =>
    a.openMenu === b.openMenu &&
    a.orgZone === b.orgZone &&
    a.isSelected === b.isSelected &&
    a.onSelect === b.onSelect &&
    isSameLocation(a.location, b.location),
)

const isSameLocation = (a: LocationNode, b: LocationNode) =>
  a.id === b.id &&
  a.name === b.name &&
  a.timezone === b.timezone &&
  JSON.stringify(a.changeWindow) === JSON.stringify(b.changeWindow) &&
  a.rooms === b.rooms &&
  JSON.stringify(a.counts) === JSON.stringify(b.counts)

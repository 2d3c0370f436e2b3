// The branches of the tree: a region that opens and closes, and the locations in it.
import { Text } from '@mantine/core'
import { memo, type ReactNode } from 'react'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { BinIcon, EditIcon, PlusIcon } from '../../parts/page/icons.tsx'
import { plural } from '../../parts/text/words.ts'
import type { StartTask } from './site-tasks.ts'
import type { LocationNode, RegionNode } from './site-tree.ts'
import classes from './sites.module.css'
import { roomsIn, TallyCells } from './tally-cells.tsx'

interface ActionProps {
  readonly label: string
  readonly onClick: () => void
  readonly children: ReactNode
}

/** A plain button: a thousand rows have some of these each. */
const Action = ({ label, onClick, children }: ActionProps) => (
  <button type="button" className={classes.action} aria-label={label} title={label} onClick={onClick}>
    {children}
  </button>
)

interface BranchProps {
  readonly id: string
  readonly name: string
  /** How many locations are shown, and how many there are. */
  readonly count: number
  readonly of: number
  readonly isOpen: boolean
  readonly onToggle: () => void
  /** Numbers and actions, on the row of the branch itself. */
  readonly beside: ReactNode
  /** What is said when it holds nothing. */
  readonly empty: string
  readonly children: ReactNode
}

/** Something that opens: a region, or the place of what is in none. */
export const Branch = ({ id, name, count, of, isOpen, onToggle, beside, empty, children }: BranchProps) => (
  <li className={classes.branch}>
    <div className={`${classes.row} ${classes.region}`}>
      <DisclosureButton isOpen={isOpen} aria-controls={isOpen ? id : undefined} onClick={onToggle} data-step>
        <span className={classes.name} title={name}>
          {name}
        </span>
        <Text span fz="sm" c="dimmed" fw={400} className={classes.count}>
          {count < of ? `${count} of ${plural(of, 'location')}` : plural(of, 'location')}
        </Text>
      </DisclosureButton>
      {beside}
    </div>
    {isOpen && count > 0 && (
      <ul id={id} className={classes.locations} aria-label={`Locations: ${name}`}>
        {children}
      </ul>
    )}
    {isOpen && count === 0 && (
      <Text id={id} fz="sm" c="dimmed" className={classes.nothing}>
        {empty}
      </Text>
    )}
  </li>
)

interface RegionBranchProps {
  readonly region: RegionNode
  readonly isOpen: boolean
  readonly onToggle: (id: number) => void
  /** Absent without the right to write. */
  readonly start: StartTask | undefined
}

export const RegionBranch = memo(({ region, isOpen, onToggle, start }: RegionBranchProps) => (
  <Branch
    id={`region-${region.id}`}
    name={region.name}
    count={region.locations.length}
    of={region.locationCount}
    isOpen={isOpen}
    onToggle={() => onToggle(region.id)}
    empty="No location is in this region yet."
    beside={
      <>
        <TallyCells name={region.name} tally={region} href={roomsIn('region', region.id)} />
        <span className={classes.actions}>
          {start && (
            <>
              <Action
                label={`New location in ${region.name}`}
                onClick={() => start({ kind: 'new-location', regionId: region.id })}
              >
                <PlusIcon />
              </Action>
              <Action label={`Rename ${region.name}`} onClick={() => start({ kind: 'rename-region', id: region.id })}>
                <EditIcon />
              </Action>
              <Action label={`Delete ${region.name}`} onClick={() => start({ kind: 'delete-region', id: region.id })}>
                <BinIcon />
              </Action>
            </>
          )}
        </span>
      </>
    }
  >
    {region.locations.map((location) => (
      <LocationRow key={location.id} location={location} start={start} />
    ))}
  </Branch>
))

interface LocationRowProps {
  readonly location: LocationNode
  readonly start: StartTask | undefined
}

export const LocationRow = memo(
  ({ location, start }: LocationRowProps) => (
    <li className={`${classes.row} ${classes.location}`}>
      <a href={roomsIn('location', location.id)} className={classes.name} title={location.name} data-step>
        {location.name}
      </a>
      <TallyCells name={location.name} tally={location} href={roomsIn('location', location.id)} />
      <span className={classes.actions}>
        {start && (
          <>
            <Action
              label={`Rename or move ${location.name}`}
              onClick={() => start({ kind: 'change-location', id: location.id })}
            >
              <EditIcon />
            </Action>
            <Action
              label={`Delete ${location.name}`}
              onClick={() => start({ kind: 'delete-location', id: location.id })}
            >
              <BinIcon />
            </Action>
          </>
        )}
      </span>
    </li>
  ),
  // The tree is made anew whenever a room has changed; most rows have not.
  (a, b) => a.start === b.start && isSame(a.location, b.location),
)

const isSame = (a: LocationNode, b: LocationNode) =>
  a.id === b.id &&
  a.name === b.name &&
  a.regionId === b.regionId &&
  a.rooms === b.rooms &&
  a.worst === b.worst &&
  a.inWorst === b.inWorst

// Shows the rows of the sites tree: regions that expand, and the locations in them.
import { Text } from '@mantine/core'
import { memo, type ReactNode } from 'react'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { BellOffIcon, BinIcon, EditIcon, PlusIcon } from '../../parts/page/icons.tsx'
import { plural } from '../../parts/text/words.ts'
import type { StartTask } from './site-tasks.ts'
import type { LocationNode, RegionNode } from './site-tree.ts'
import classes from './sites.module.css'
import { roomsUrl, TallyCells } from './tally-cells.tsx'

interface ActionButtonProps {
  readonly label: string
  readonly onClick: () => void
  readonly children: ReactNode
}

/** A plain button is used, because a thousand rows can have three of them each. */
const ActionButton = ({ label, onClick, children }: ActionButtonProps) => (
  <button type="button" className={classes.action} aria-label={label} title={label} onClick={onClick}>
    {children}
  </button>
)

interface BranchProps {
  readonly id: string
  readonly name: string
  /** The filter shows this many locations. */
  readonly count: number
  readonly total: number
  readonly isOpen: boolean
  readonly onToggle: () => void
  /** The row of the branch shows these numbers and actions. */
  readonly beside: ReactNode
  /** A branch without locations shows this text. */
  readonly empty: string
  readonly children: ReactNode
}

/** A branch is a region, or holds all locations without one. */
export const Branch = ({ id, name, count, total, isOpen, onToggle, beside, empty, children }: BranchProps) => (
  <li className={classes.branch}>
    <div className={`${classes.row} ${classes.region}`}>
      <DisclosureButton isOpen={isOpen} aria-controls={isOpen ? id : undefined} onClick={onToggle} data-tree-row>
        <span className={classes.name} title={name}>
          {name}
        </span>
        <Text span fz="sm" c="dimmed" fw={400} className={classes.count}>
          {count < total ? `${count} of ${plural(total, 'location')}` : plural(total, 'location')}
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
      <Text id={id} fz="sm" c="dimmed" className={classes.empty}>
        {empty}
      </Text>
    )}
  </li>
)

interface RegionBranchProps {
  readonly region: RegionNode
  readonly isOpen: boolean
  readonly onToggle: (id: number) => void
  /** Callers that may not write get undefined. */
  readonly start: StartTask | undefined
  readonly silence: StartTask | undefined
  /** Whether the region itself may be renamed and deleted. */
  readonly mayChange: boolean
}

export const RegionBranch = memo(({ region, isOpen, onToggle, start, silence, mayChange }: RegionBranchProps) => (
  <Branch
    id={`region-${region.id}`}
    name={region.name}
    count={region.locations.length}
    total={region.locationCount}
    isOpen={isOpen}
    onToggle={() => onToggle(region.id)}
    empty="No locations yet"
    beside={
      <>
        <TallyCells name={region.name} tally={region} href={roomsUrl('region', region.id)} />
        <span className={classes.actions}>
          {start && (
            <ActionButton
              label={`New location in ${region.name}`}
              onClick={() => start({ kind: 'new-location', regionId: region.id })}
            >
              <PlusIcon />
            </ActionButton>
          )}
          {start && mayChange && (
            <>
              <ActionButton label={`Edit ${region.name}`} onClick={() => start({ kind: 'edit-region', id: region.id })}>
                <EditIcon />
              </ActionButton>
              <ActionButton
                label={`Delete ${region.name}`}
                onClick={() => start({ kind: 'delete-region', id: region.id })}
              >
                <BinIcon />
              </ActionButton>
            </>
          )}
        </span>
      </>
    }
  >
    {region.locations.map((location) => (
      <LocationRow key={location.id} location={location} start={start} silence={silence} />
    ))}
  </Branch>
))

interface LocationRowProps {
  readonly location: LocationNode
  readonly start: StartTask | undefined
  /** Callers that may not operate get undefined. */
  readonly silence: StartTask | undefined
}

export const LocationRow = memo(
  ({ location, start, silence }: LocationRowProps) => (
    <li className={`${classes.row} ${classes.location}`}>
      <a href={roomsUrl('location', location.id)} className={classes.name} title={location.name} data-tree-row>
        {location.name}
      </a>
      <TallyCells name={location.name} tally={location} href={roomsUrl('location', location.id)} />
      <span className={classes.actions}>
        {silence && (
          <ActionButton
            label={`Silence ${location.name}`}
            onClick={() => silence({ kind: 'silence-location', id: location.id })}
          >
            <BellOffIcon />
          </ActionButton>
        )}
        {start && (
          <>
            <ActionButton
              label={`Edit ${location.name}`}
              onClick={() => start({ kind: 'edit-location', id: location.id })}
            >
              <EditIcon />
            </ActionButton>
            <ActionButton
              label={`Delete ${location.name}`}
              onClick={() => start({ kind: 'delete-location', id: location.id })}
            >
              <BinIcon />
            </ActionButton>
          </>
        )}
      </span>
    </li>
  ),
  // The tree is rebuilt whenever a room changes, while most rows stay equal.
  (a, b) => a.start === b.start && a.silence === b.silence && isSameLocation(a.location, b.location),
)

const isSameLocation = (a: LocationNode, b: LocationNode) =>
  a.id === b.id && a.name === b.name && a.rooms === b.rooms && a.worst === b.worst && a.worstCount === b.worstCount

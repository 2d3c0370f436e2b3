// One stacked bar for each region, as long as it has rooms: healthy, not seen, degraded and offline ones. Each part is a link to its rooms.
import { Link } from '@tanstack/react-router'
import { plural } from '../../../parts/text/words.ts'
import { unassigned } from '../site/sites.ts'
import classes from './region-bars.module.css'
import { type BarState, barStates, type RegionStates } from './region-states.ts'
import { roomStateFill, roomStateIcon, roomStateLabel } from './room-state.tsx'

export function RegionBars({ regions }: { readonly regions: readonly RegionStates[] }) {
  const longest = longestOf(regions)
  return (
    <>
      <ul className={classes.regions}>
        {regions.map((region) => (
          <RegionBar key={region.filterValue} region={region} longest={longest} withLinks />
        ))}
      </ul>
      {regions.length > 1 && (
        <div className={classes.axis} aria-hidden="true">
          <span>0</span>
          <span>{plural(longest, 'room')}</span>
        </div>
      )}
    </>
  )
}

/** The bar of the region with the most rooms has the whole width. */
export const longestOf = (regions: readonly RegionStates[]): number => Math.max(1, ...regions.map(({ total }) => total))

interface RegionBarProps {
  readonly region: RegionStates
  readonly longest: number
  /** A screen on a wall has no pointer, so its bars lead nowhere. */
  readonly withLinks: boolean
}

/** An item of a list. */
export const RegionBar = ({ region, longest, withLinks }: RegionBarProps) => (
  <li className={classes.region}>
    <span className={classes.name}>{withLinks ? <RegionLink region={region} /> : region.name}</span>
    <span className={classes.counts}>
      {barStates
        .filter((state) => region.counts[state] > 0)
        .map((state) => (
          <Count key={state} region={region} longest={longest} state={state} withLinks={withLinks} />
        ))}
    </span>
    <span className={classes.bar} aria-hidden="true">
      {barStates.map((state) => (
        <Part key={state} region={region} longest={longest} state={state} withLinks={withLinks} />
      ))}
    </span>
  </li>
)

/** Rooms without a region have no page of their own. */
const RegionLink = ({ region: { filterValue, name } }: Pick<RegionBarProps, 'region'>) =>
  filterValue === unassigned ? (
    <Link to="/rooms" search={{ region: filterValue }}>
      {name}
    </Link>
  ) : (
    <Link to="/sites/regions/$regionId" params={{ regionId: filterValue }}>
      {name}
    </Link>
  )

interface PartProps extends RegionBarProps {
  readonly state: BarState
}

/** The length is true, but never less than can be seen. It repeats the link of its number, which is easier to hit. */
function Part({ region: { filterValue, counts, name, isReconnecting }, longest, state, withLinks }: PartProps) {
  if (counts[state] === 0) return null
  const style = { width: `${(counts[state] / longest) * 100}%`, background: roomStateFill(state) }
  if (!withLinks) return <span className={classes.part} style={style} />
  return (
    <Link
      to="/rooms"
      search={{ region: filterValue, state }}
      className={classes.part}
      style={style}
      tabIndex={-1}
      title={`${name}: ${plural(counts[state], 'room')} ${roomStateLabel(state, isReconnecting).toLowerCase()}`}
    />
  )
}

function Count({ region: { filterValue, counts, name, isReconnecting }, state, withLinks }: PartProps) {
  const content = (
    <>
      {roomStateIcon(state, isReconnecting)} {counts[state].toLocaleString('en-GB')}
    </>
  )
  const label = `${plural(counts[state], 'room')} ${roomStateLabel(state, isReconnecting).toLowerCase()} in ${name}`
  if (!withLinks) {
    return (
      <span className={classes.count} data-state={state} role="img" aria-label={label}>
        {content}
      </span>
    )
  }
  return (
    <Link
      to="/rooms"
      search={{ region: filterValue, state }}
      className={classes.count}
      data-state={state}
      aria-label={label}
      title={label}
    >
      {content}
    </Link>
  )
}

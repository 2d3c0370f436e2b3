// One stacked bar for each region: healthy, not seen, degraded and offline rooms. Each part is a link to its rooms.
import { Link } from '@tanstack/react-router'
import { plural } from '../../../parts/text/words.ts'
import { unassigned } from '../site/sites.ts'
import classes from './region-bars.module.css'
import { type BarState, barStates, type RegionStates } from './region-states.ts'
import { roomStateFill, roomStateIcon, roomStateLabel } from './room-state.tsx'

export const RegionBars = ({ regions }: { readonly regions: readonly RegionStates[] }) => (
  <ul className={classes.regions}>
    {regions.map((region) => (
      <RegionBar key={region.filterValue} region={region} withLinks />
    ))}
  </ul>
)

interface RegionBarProps {
  readonly region: RegionStates
  /** A screen on a wall has no pointer, so its bars lead nowhere. */
  readonly withLinks: boolean
}

/** An item of a list. */
export const RegionBar = ({ region, withLinks }: RegionBarProps) => (
  <li className={classes.region}>
    <span className={classes.name}>{withLinks ? <RegionLink region={region} /> : region.name}</span>
    <span className={classes.counts}>
      {barStates
        .filter((state) => region.counts[state] > 0)
        .map((state) => (
          <Count key={state} region={region} state={state} withLinks={withLinks} />
        ))}
    </span>
    <span className={classes.bar} aria-hidden="true">
      {barStates.map((state) => (
        <Part key={state} region={region} state={state} withLinks={withLinks} />
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

/** The part is large enough to see and to hit, however few rooms it stands for. It repeats the link of its number. */
function Part({ region: { filterValue, counts, total, name, isReconnecting }, state, withLinks }: PartProps) {
  if (counts[state] === 0) return null
  const style = { flexGrow: counts[state] / total, background: roomStateFill(state) }
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

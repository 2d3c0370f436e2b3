// Shows how many rooms of a site are in each state; each number links to its rooms. Plain links, because a thousand rows have them.
import { pathUnderBase } from '../../base-path.ts'
import { roomStateIcon, roomStateLabel, roomStates } from '../../domain/fleet/room/room-state.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import type { RoomTally } from './site-tree.ts'
import classes from './state-counts.module.css'

interface StateCountsProps {
  /** Screen readers hear the name of the site with each number. */
  readonly name: string
  readonly tally: RoomTally
  readonly href: string
}

/** Builds the address without the router, which would need seconds for the addresses in a thousand rows. */
export const roomsUrl = (kind: 'region' | 'location', id: number): string => `${pathUnderBase('/rooms')}?${kind}=${id}`

export const StateCounts = ({ name, tally: { counts }, href }: StateCountsProps) => (
  <span className={classes.counts}>
    {roomStates
      .filter((state) => counts[state] > 0)
      .map((state) => (
        <a
          key={state}
          href={`${href}&state=${state}`}
          className={classes.count}
          data-state={state}
          title={roomStateLabel(state)}
        >
          {roomStateIcon(state)} {counts[state].toLocaleString('en-GB')}
          <span className={classes.word}> {roomStateLabel(state).toLowerCase()}</span>
          <VisuallyHidden> in {name}</VisuallyHidden>
        </a>
      ))}
  </span>
)

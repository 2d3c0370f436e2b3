// Shows the number of rooms of a site and their worst state; both link to the rooms.

import { pathUnderBase } from '../../base-path.ts'
import { type RoomState, roomStateIcon, roomStateLabel } from '../../domain/fleet/room/room-state.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import { plural } from '../../parts/text/words.ts'
import type { RoomTally } from './site-tree.ts'
import classes from './sites.module.css'

interface TallyCellsProps {
  /** Screen readers hear the name of the site with each number. */
  readonly name: string
  readonly tally: RoomTally
  readonly href: string
}

/** Builds the address without the router, which would need seconds for three addresses in each of a thousand rows. */
export const roomsUrl = (kind: 'region' | 'location', id: number): string => `${pathUnderBase('/rooms')}?${kind}=${id}`

export const TallyCells = ({ name, tally: { rooms, worst, worstCount }, href }: TallyCellsProps) => (
  <>
    <span className={classes.rooms}>
      {rooms > 0 ? (
        <a href={href}>
          {plural(rooms, 'room')}
          <VisuallyHidden> in {name}</VisuallyHidden>
        </a>
      ) : (
        <span className={classes.dimmed}>No rooms</span>
      )}
    </span>
    <span className={classes.state}>
      {worst && (
        <a href={`${href}&state=${worst}`} className={classes.stateLink} data-state={worst}>
          {roomStateIcon(worst)} {roomStateLabel(worst)}
          {isCounted(worst) && ` ${worstCount.toLocaleString('en-GB')}`}
          <VisuallyHidden> in {name}</VisuallyHidden>
        </a>
      )}
    </span>
  </>
)

const isCounted = (state: RoomState) => state !== 'HEALTHY' && state !== 'EMPTY'

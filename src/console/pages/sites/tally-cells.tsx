// The numbers beside a site: its rooms, and how the worst of them are; each leads to the rooms that it counts.

import { type RoomState, roomStateColour, roomStateIcon, roomStateLabel } from '../../domain/room/room-state.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import { plural } from '../../parts/text/words.ts'
import type { Tally } from './site-tree.ts'
import classes from './sites.module.css'

interface TallyCellsProps {
  /** Whose numbers, for those who hear them. */
  readonly name: string
  readonly tally: Tally
  readonly href: string
}

/** The rooms of a region or a location. Written by hand: making three addresses for each of a thousand rows takes seconds. */
export const roomsIn = (what: 'region' | 'location', id: number): string => `/rooms?${what}=${id}`

export const TallyCells = ({ name, tally: { rooms, worst, inWorst }, href }: TallyCellsProps) => (
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
        <a href={`${href}&state=${worst}`} className={classes.stateLink} style={{ color: roomStateColour(worst) }}>
          {roomStateIcon(worst)} {roomStateLabel(worst)}
          {isBad(worst) && ` ${inWorst.toLocaleString('en-GB')}`}
          <VisuallyHidden> in {name}</VisuallyHidden>
        </a>
      )}
    </span>
  </>
)

const isBad = (state: RoomState) => state === 'OFFLINE' || state === 'DEGRADED'

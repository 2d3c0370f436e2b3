// The map of all rooms: a square for each, by region and location, with its state as colour and shape. A square leads to its room.
import { Tooltip } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type FocusEvent, memo, type PointerEvent, useMemo, useState } from 'react'
import type { RoomTableRow } from '../../../domain/fleet/room/room-rows.ts'
import { type RoomState, roomStateIcon, roomStateLabel, roomStates } from '../../../domain/fleet/room/room-state.tsx'
import { moveFocus } from '../../../parts/page/arrow-focus.ts'
import { Section } from '../../../parts/page/page.tsx'
import { type MapPlace, type MapRoom, mapRegions } from './map-regions.ts'
import classes from './room-map.module.css'

export function RoomMapSection({ rows }: { readonly rows: readonly RoomTableRow[] }) {
  const regions = useMemo(() => mapRegions(rows), [rows])
  const first = regions[0]?.locations[0]?.rooms[0]?.id
  const [lastId, setLastId] = useState<number>()
  const [pointed, setPointed] = useState<HTMLElement | null>(null)
  // One square is a tab stop, and arrow keys move from it: a tab stop for each room would be hundreds.
  const tabStop = rows.some(({ id }) => id === lastId) ? lastId : first
  const point = (event: PointerEvent | FocusEvent) => setPointed(squareOf(event.target))
  const leave = () => setPointed(null)
  return (
    <Section title="All rooms" actions={<Legend rows={rows} />}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the links take the keys, and the tooltip of one of them follows pointer and focus */}
      <div
        onKeyDown={(event) => moveFocus(event, '[data-room]')}
        onPointerOver={point}
        onPointerLeave={leave}
        onFocus={(event) => {
          const square = squareOf(event.target)
          setPointed(square)
          if (square) setLastId(Number(square.dataset.room))
        }}
        onBlur={leave}
      >
        {regions.map(({ locations, ...region }) => (
          <div key={region.filterValue} className={classes.region}>
            <PlaceName place={region} filter="region" />
            <div className={classes.locations}>
              {locations.map(({ rooms, ...location }) => (
                <div key={location.filterValue} className={classes.location}>
                  <PlaceName place={location} filter="location" />
                  <ul className={classes.squares}>
                    {rooms.map((room) => (
                      <Square key={room.id} {...room} location={location.name} isTabStop={room.id === tabStop} />
                    ))}
                  </ul>
                </div>
              ))}
            </div>
          </div>
        ))}
      </div>
      {pointed && <Tooltip label={pointed.getAttribute('aria-label')} target={pointed} opened withinPortal={false} />}
    </Section>
  )
}

interface PlaceNameProps {
  readonly place: MapPlace
  readonly filter: 'region' | 'location'
}

const PlaceName = ({ place: { name, filterValue }, filter }: PlaceNameProps) => (
  <Link to="/rooms" search={{ [filter]: filterValue }} className={classes[filter === 'region' ? 'regionName' : 'name']}>
    {name}
  </Link>
)

interface SquareProps extends MapRoom {
  readonly location: string
  readonly isTabStop: boolean
}

/** Rendered again only if its room has changed: samples make new rows many times a minute. */
const Square = memo(function Square({ id, name, state, isReconnecting, location, isTabStop }: SquareProps) {
  return (
    <li>
      <Link
        to="/rooms/$roomId"
        params={{ roomId: String(id) }}
        className={classes.square}
        data-room={id}
        data-state={state}
        tabIndex={isTabStop ? 0 : -1}
        preload={false}
        aria-label={`${name}, ${location}: ${roomStateLabel(state, isReconnecting)}`}
      >
        <Mark state={state} />
      </Link>
    </li>
  )
})

/** Offline and degraded rooms have a mark in them; the other states differ by their outline, so hundreds of healthy rooms stay quiet. */
const Mark = ({ state }: { readonly state: RoomState }) => (
  <span className={classes.mark} data-state={state}>
    {(state === 'OFFLINE' || state === 'DEGRADED') && roomStateIcon(state)}
  </span>
)

/** The states that there are. */
function Legend({ rows }: { readonly rows: readonly RoomTableRow[] }) {
  const isReconnecting = rows.every((row) => row.state !== 'UNKNOWN' || row.isReconnecting)
  return (
    <span className={classes.legend}>
      {roomStates
        .filter((state) => rows.some((row) => row.state === state))
        .map((state) => (
          <span key={state}>
            <Mark state={state} /> {roomStateLabel(state, isReconnecting)}
          </span>
        ))}
    </span>
  )
}

const squareOf = (target: EventTarget): HTMLElement | null => (target as Element).closest<HTMLElement>('[data-room]')

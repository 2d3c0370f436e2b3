// The name of a room in a report; a click puts it beside the rooms that are compared. Paper shows the name too, in lists and in tables.
import type { InsightView } from '../insight-view.ts'
import classes from '../insights.module.css'
import { formatRooms, maxRoomsAside, parseRooms } from '../report-filter.ts'

interface RoomButtonProps {
  readonly row: { readonly room?: { readonly id: number; readonly name: string }; readonly deletedAt?: string }
  readonly view: InsightView
}

export function RoomButton({ row: { room, deletedAt }, view: { search, change } }: RoomButtonProps) {
  if (!room) return null
  const chosen = parseRooms(search.rooms)
  const open = () => {
    if (!chosen.includes(room.id))
      change({ rooms: formatRooms([...chosen.slice(chosen.length >= maxRoomsAside ? 1 : 0), room.id]) })
  }
  return (
    <button type="button" className={classes.link} data-on-paper onClick={open}>
      {room.name}
      {deletedAt && ' (deleted)'}
    </button>
  )
}

// The select for a room: typing finds it by its name or location.
import { Select } from '@mantine/core'
import classes from '../../../parts/dialog/dialog.module.css'
import { useRoomChoices } from './room-choices.ts'

interface RoomSelectProps {
  readonly label: string
  readonly value: string | null
  readonly onChange: (roomId: string | null) => void
  readonly description?: string | undefined
  /** This room is not offered. */
  readonly exceptId?: number | undefined
  /** Whether a dialog opens with the focus in the select. */
  readonly hasFirstFocus?: boolean
  readonly required?: boolean
  readonly isClearable?: boolean
}

/** Longer lists are slow to open; typing finds the other rooms. */
const maxRoomsShown = 50

export function RoomSelect({
  value,
  exceptId,
  hasFirstFocus = false,
  isClearable = false,
  ...select
}: RoomSelectProps) {
  const { choices, error, isPending } = useRoomChoices(exceptId)
  return (
    <Select
      {...select}
      placeholder="Search by room or location"
      data={choices}
      value={value}
      error={error && 'The rooms could not be read.'}
      searchable
      clearable={isClearable}
      selectFirstOptionOnChange
      selectFirstOptionOnDropdownOpen={value === null}
      limit={maxRoomsShown}
      openOnFocus={false}
      withScrollArea={false}
      classNames={{ options: classes.choices }}
      nothingFoundMessage={isPending ? 'Loading…' : 'No matching rooms'}
      {...(hasFirstFocus && { 'data-autofocus': true })}
    />
  )
}

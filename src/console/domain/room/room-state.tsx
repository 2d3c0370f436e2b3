// The state of a room or a connection: shape, word and colour, so that none of them is needed alone.
import type { ReactNode } from 'react'
import { CheckIcon, CrossIcon, DotIcon, WarnIcon } from '../../parts/page/icons.tsx'
import { Mark } from '../../parts/text/status-label.tsx'

export type RoomState = 'HEALTHY' | 'DEGRADED' | 'OFFLINE' | 'EMPTY'

const rooms: Record<RoomState, { word: string; colour: string; mark: ReactNode; meaning: string }> = {
  OFFLINE: {
    word: 'Offline',
    colour: 'var(--rk-offline)',
    mark: <CrossIcon size={16} />,
    meaning: 'None of its devices is connected.',
  },
  DEGRADED: {
    word: 'Degraded',
    colour: 'var(--rk-degraded)',
    mark: <WarnIcon size={16} />,
    meaning: 'A device is not connected, or has refused its config.',
  },
  HEALTHY: {
    word: 'Healthy',
    colour: 'var(--rk-healthy)',
    mark: <CheckIcon size={16} />,
    meaning: 'All its devices are connected.',
  },
  EMPTY: { word: 'Empty', colour: 'var(--rk-empty)', mark: <DotIcon size={16} />, meaning: 'It has no devices yet.' },
}

/** The worst first. */
export const roomStates = Object.keys(rooms) as RoomState[]
export const stateWord = (state: RoomState): string => rooms[state].word
export const stateColour = (state: RoomState): string => rooms[state].colour
export const stateIcon = (state: RoomState): ReactNode => rooms[state].mark
export const stateMeaning = (state: RoomState): string => rooms[state].meaning

export const RoomStateMark = ({ state }: { readonly state: RoomState }) => (
  <Mark colour={rooms[state].colour} mark={rooms[state].mark}>
    {rooms[state].word}
  </Mark>
)

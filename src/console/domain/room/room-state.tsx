// The state of a room or a connection: shape, word and colour, so that none of them is needed alone.
import type { ReactNode } from 'react'
import { CheckIcon, CrossIcon, DotIcon, WarnIcon } from '../../parts/page/icons.tsx'
import { StatusLabel } from '../../parts/text/status-label.tsx'

export type RoomState = 'HEALTHY' | 'DEGRADED' | 'OFFLINE' | 'EMPTY'

const roomStateStyles: Record<RoomState, { word: string; colour: string; mark: ReactNode; meaning: string }> = {
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
export const roomStates = Object.keys(roomStateStyles) as RoomState[]
export const roomStateLabel = (state: RoomState): string => roomStateStyles[state].word
export const roomStateColour = (state: RoomState): string => roomStateStyles[state].colour
export const roomStateIcon = (state: RoomState): ReactNode => roomStateStyles[state].mark
export const roomStateMeaning = (state: RoomState): string => roomStateStyles[state].meaning

export const RoomStateLabel = ({ state }: { readonly state: RoomState }) => (
  <StatusLabel colour={roomStateStyles[state].colour} icon={roomStateStyles[state].mark}>
    {roomStateStyles[state].word}
  </StatusLabel>
)

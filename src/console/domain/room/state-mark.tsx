// The state of a room or a connection: shape, word and colour, so that none of them is needed alone.
import type { ReactNode } from 'react'
import { CheckIcon, CrossIcon, DotIcon, WarnIcon } from '../../parts/page/icons.tsx'
import classes from './state-mark.module.css'

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

interface MarkProps {
  readonly colour: string
  readonly mark: ReactNode
  readonly children: ReactNode
}

/** Any mark with a word: for states of operations and configs too. One is in every row of the long tables. */
export const Mark = ({ colour, mark, children }: MarkProps) => (
  <span className={classes.mark} style={{ color: colour }}>
    {mark}
    <span>{children}</span>
  </span>
)

export const RoomStateMark = ({ state }: { readonly state: RoomState }) => (
  <Mark colour={rooms[state].colour} mark={rooms[state].mark}>
    {rooms[state].word}
  </Mark>
)

export const ConnectedMark = ({ connected }: { readonly connected: boolean }) =>
  connected ? (
    <Mark colour="var(--rk-healthy)" mark={<CheckIcon size={16} />}>
      Connected
    </Mark>
  ) : (
    <Mark colour="var(--rk-offline)" mark={<CrossIcon size={16} />}>
      Offline
    </Mark>
  )

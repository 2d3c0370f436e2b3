// Shows the state of a config version as icon, word and colour.
import type { ReactNode } from 'react'
import type { ConfigState } from '../../../contract/configs.ts'
import { Mark } from '../../domain/room/state-mark.tsx'
import { CheckIcon, ClockIcon, CrossIcon, MoveIcon } from '../../parts/page/icons.tsx'

const states: Record<ConfigState, { word: string; colour: string; mark: ReactNode }> = {
  PENDING: { word: 'Pending', colour: 'var(--rk-degraded)', mark: <ClockIcon size={16} /> },
  DELIVERED: { word: 'Delivered', colour: 'var(--rk-healthy)', mark: <CheckIcon size={16} /> },
  FAILED: { word: 'Rejected', colour: 'var(--rk-offline)', mark: <CrossIcon size={16} /> },
  SUPERSEDED: { word: 'Superseded', colour: 'var(--rk-empty)', mark: <MoveIcon size={16} /> },
}

export const ConfigStateMark = ({ state }: { readonly state: ConfigState }) => (
  <Mark colour={states[state].colour} mark={states[state].mark}>
    {states[state].word}
  </Mark>
)

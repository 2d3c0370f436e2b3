// Shows the state of a config version as icon, word and colour.
import type { ReactNode } from 'react'
import type { ConfigState } from '../../../../contract/fleet/configs.ts'
import { CheckIcon, ClockIcon, CrossIcon, MoveIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'

const states: Record<ConfigState, { word: string; colour: string; mark: ReactNode }> = {
  PENDING: { word: 'Pending', colour: 'var(--rk-degraded)', mark: <ClockIcon size={16} /> },
  DELIVERED: { word: 'Delivered', colour: 'var(--rk-healthy)', mark: <CheckIcon size={16} /> },
  FAILED: { word: 'Rejected', colour: 'var(--rk-offline)', mark: <CrossIcon size={16} /> },
  SUPERSEDED: { word: 'Superseded', colour: 'var(--rk-empty)', mark: <MoveIcon size={16} /> },
}

export const ConfigStateMark = ({ state }: { readonly state: ConfigState }) => (
  <StatusLabel colour={states[state].colour} icon={states[state].mark}>
    {states[state].word}
  </StatusLabel>
)

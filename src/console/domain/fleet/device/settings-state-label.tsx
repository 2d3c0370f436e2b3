// The label that shows whether a device has taken its settings.
import type { ReactNode } from 'react'
import { CheckIcon, ClockIcon, CrossIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { type SettingsState, settingsStates } from './device-rows.ts'

const marks: Record<Exclude<SettingsState, 'none'>, { readonly colour: string; readonly icon: ReactNode }> = {
  PENDING: { colour: 'var(--rk-degraded)', icon: <ClockIcon size={16} /> },
  DELIVERED: { colour: 'var(--rk-healthy)', icon: <CheckIcon size={16} /> },
  FAILED: { colour: 'var(--rk-offline)', icon: <CrossIcon size={16} /> },
}

export const SettingsStateLabel = ({ state }: { readonly state: SettingsState }) =>
  state === 'none' ? (
    settingsStates.none
  ) : (
    <StatusLabel colour={marks[state].colour} icon={marks[state].icon}>
      {settingsStates[state]}
    </StatusLabel>
  )

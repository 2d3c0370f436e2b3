// The label that shows whether a device has taken its settings.
import { ClockIcon } from '../../../parts/page/icons.tsx'
import { type StateLook, StatusLabel } from '../../../parts/text/status-label.tsx'
import { type SettingsState, settingsStates } from './device-rows.ts'

const marks: Record<Exclude<SettingsState, 'none'>, Omit<StateLook, 'label'>> = {
  PENDING: { tone: 'quiet', icon: <ClockIcon size={16} /> },
  DELIVERED: { tone: 'calm' },
  FAILED: { tone: 'danger' },
}

export const SettingsStateLabel = ({ state }: { readonly state: SettingsState }) =>
  state === 'none' ? (
    settingsStates.none
  ) : (
    <StatusLabel {...marks[state]} isBadge>
      {settingsStates[state]}
    </StatusLabel>
  )

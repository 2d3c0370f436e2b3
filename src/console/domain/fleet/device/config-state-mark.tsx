// Shows the state of a config version as icon, word and colour.
import type { ConfigState } from '../../../../contract/fleet/configs.ts'
import { ClockIcon, MoveIcon } from '../../../parts/page/icons.tsx'
import { StateBadge, type StateLook } from '../../../parts/text/status-label.tsx'

const states: Record<ConfigState, StateLook> = {
  PENDING: { label: 'Pending', tone: 'quiet', icon: <ClockIcon size={16} /> },
  DELIVERED: { label: 'Delivered', tone: 'calm' },
  FAILED: { label: 'Rejected', tone: 'danger' },
  SUPERSEDED: { label: 'Superseded', tone: 'quiet', icon: <MoveIcon size={16} /> },
}

export const ConfigStateMark = ({ state }: { readonly state: ConfigState }) => <StateBadge look={states[state]} />

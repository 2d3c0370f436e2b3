// The states of recurring jobs as labels. [contract 12.recurring]
import { PauseIcon } from '../../parts/page/icons.tsx'
import { StateBadge, type StateLook } from '../../parts/text/status-label.tsx'
import type { RecurringJob } from './recurring-job.ts'

type RecurringState = RecurringJob['state']

const looks: Readonly<Record<RecurringState, StateLook>> = {
  ACTIVE: { label: 'Active', tone: 'calm' },
  PAUSED: { label: 'Paused', tone: 'warning', icon: <PauseIcon size={16} /> },
}

export const recurringStateName = (state: RecurringState): string => looks[state].label
export const RecurringStateLabel = ({ state }: { readonly state: RecurringState }) => <StateBadge look={looks[state]} />

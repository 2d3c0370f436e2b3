// A state as an icon with a label. The tone gives the colour; the icon's shape and the text say the same without it.
import type { ReactNode } from 'react'
import { CheckIcon, CriticalIcon, DotIcon, FailedIcon, RebootIcon, WarnIcon } from '../page/icons.tsx'
import classes from './status-label.module.css'

/** How much a state asks for attention, from none to all of it. */
export type Tone = 'plain' | 'quiet' | 'calm' | 'busy' | 'warning' | 'danger' | 'critical'

/** The look of a state, the same wherever the state is shown. */
export interface StateLook {
  readonly label: string
  readonly tone: Tone
  /** Needed if the shape of the tone is not enough. */
  readonly icon?: ReactNode
}

const icons: Readonly<Record<Tone, ReactNode>> = {
  plain: <DotIcon size={16} />,
  quiet: <DotIcon size={16} />,
  calm: <CheckIcon size={16} />,
  busy: <RebootIcon size={16} />,
  warning: <WarnIcon size={16} />,
  danger: <FailedIcon size={16} />,
  critical: <CriticalIcon size={16} />,
}

export const lookIcon = ({ tone, icon }: Pick<StateLook, 'tone' | 'icon'>): ReactNode => icon ?? icons[tone]

interface StatusLabelProps {
  readonly tone: Tone
  readonly icon?: ReactNode
  /** The state of a whole thing: warning, danger and critical are filled. A remark about one of its values is not. */
  readonly isBadge?: boolean
  readonly children: ReactNode
}

/** Plain elements instead of Mantine components, because long tables have one in every row. */
export const StatusLabel = ({ tone, icon, isBadge = false, children }: StatusLabelProps) => (
  <span className={classes.label} data-tone={tone} data-badge={isBadge || undefined}>
    {lookIcon({ tone, icon })}
    <span>{children}</span>
  </span>
)

/** The state of a room, a device, an incident, a job and the like. */
export const StateBadge = ({ look: { label, tone, icon } }: { readonly look: StateLook }) => (
  <StatusLabel tone={tone} icon={icon} isBadge>
    {label}
  </StatusLabel>
)

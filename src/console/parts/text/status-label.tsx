// A state as an icon with a coloured label: shape and text carry the meaning too, so that colour is not needed.
import type { ReactNode } from 'react'
import classes from './status-label.module.css'

interface StatusLabelProps {
  readonly colour: string
  readonly icon: ReactNode
  readonly children: ReactNode
}

/** Plain elements instead of Mantine components, because long tables have one in every row. */
export const StatusLabel = ({ colour, icon, children }: StatusLabelProps) => (
  <span className={classes.label} style={{ color: colour }}>
    {icon}
    <span>{children}</span>
  </span>
)

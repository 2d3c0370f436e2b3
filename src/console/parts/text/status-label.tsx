// An icon with a coloured label: the state is readable from the shape and the word, so colour is never needed alone.
import type { ReactNode } from 'react'
import classes from './status-label.module.css'

interface StatusLabelProps {
  readonly colour: string
  readonly icon: ReactNode
  readonly children: ReactNode
}

/** Any mark with a word: for states of operations and configs too. One is in every row of the long tables. */
export const StatusLabel = ({ colour, icon, children }: StatusLabelProps) => (
  <span className={classes.label} style={{ color: colour }}>
    {icon}
    <span>{children}</span>
  </span>
)

// Text for screen readers only. A plain span, because long lists have one in every row.
import type { ReactNode } from 'react'
import classes from './visually-hidden.module.css'

export const VisuallyHidden = ({ children }: { readonly children: ReactNode }) => (
  <span className={classes.hidden}>{children}</span>
)

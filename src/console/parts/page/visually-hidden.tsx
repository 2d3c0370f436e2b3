// Words for those who hear the page; those who see it have them from what stands around. One may be in every row of a long list.
import type { ReactNode } from 'react'
import classes from './visually-hidden.module.css'

export const VisuallyHidden = ({ children }: { readonly children: ReactNode }) => (
  <span className={classes.hidden}>{children}</span>
)

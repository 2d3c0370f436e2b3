// The large figures at the top of a tab or a page.
import type { ReactNode } from 'react'
import classes from './figures-list.module.css'

export interface LargeFigure {
  readonly name: string
  readonly value: ReactNode
  readonly note?: ReactNode
  readonly isException?: boolean
}

export const FiguresList = ({ figures }: { readonly figures: readonly LargeFigure[] }) => (
  <dl className={classes.figures}>
    {figures.map(({ name, value, note, isException }) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd className={isException ? classes.exception : undefined}>{value}</dd>
        {note && <dd className={classes.small}>{note}</dd>}
      </div>
    ))}
  </dl>
)

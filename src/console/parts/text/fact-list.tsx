// The facts about a thing below its title: names above values, side by side as far as they fit. Facts without a value are left out.
import type { ReactNode } from 'react'
import { oneLine } from '../../../contract/words.ts'
import classes from './fact-list.module.css'

export type Fact = readonly [name: string, value: ReactNode]

const isKnown = (value: ReactNode): boolean => value !== undefined && value !== null && value !== false && value !== ''

/** Many texts come from devices: what could reverse the text around them is left out. */
export const FactList = ({ label, facts }: { readonly label: string; readonly facts: readonly Fact[] }) => (
  <dl className={classes.facts} aria-label={label}>
    {facts
      .filter(([, value]) => isKnown(value))
      .map(([name, value]) => (
        <div key={name} className={classes.fact}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? oneLine(value) : value}</dd>
        </div>
      ))}
  </dl>
)

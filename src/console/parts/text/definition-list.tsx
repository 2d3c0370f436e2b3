// A list of names with values; entries without a value are left out.
import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { oneLine } from '../../../contract/words.ts'
import { CopyIconButton } from '../page/copy-icon-button.tsx'
import classes from './definition-list.module.css'

/** A key is needed where several names can be equal. */
export type Definition = readonly [name: string, value: ReactNode, key?: string]

/** Many texts come from devices: what could reverse the text around them is left out. */
const shownValue = (value: ReactNode): ReactNode => (typeof value === 'string' ? oneLine(value) : value)
const isKnown = (value: ReactNode): boolean => value !== undefined && value !== false && value !== ''

/** Whether a list of the definitions would show something. */
export const hasDefinitions = (definitions: readonly Definition[]): boolean =>
  definitions.some(([, value]) => isKnown(shownValue(value)))

export function DefinitionList({ definitions }: { readonly definitions: readonly Definition[] }) {
  const known = definitions
    .map(([name, value, key = name]) => ({ name, value: shownValue(value), key }))
    .filter(({ value }) => isKnown(value))
  return (
    <dl className={classes.list}>
      {known.map(({ name, value, key }) => (
        <div key={key} className={classes.item}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

interface CopyableTextProps {
  readonly text: string
  readonly what: string
  readonly large?: boolean
}

/** A text with a button that copies it. */
export function CopyableText({ text, what, large = false }: CopyableTextProps) {
  const shown = oneLine(text)
  return (
    <Group component="span" gap={4} wrap="nowrap" display="inline-flex" maw="100%">
      <Text span ff="monospace" fz={large ? 'lg' : 'sm'} fw={large ? 600 : undefined} className={classes.long}>
        {shown}
      </Text>
      <CopyIconButton text={shown} tip={`Copy ${what}`} isInline size={large ? 36 : 24} />
    </Group>
  )
}

// A list of names with values; entries without a value are left out.
import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyIconButton } from '../page/copy-icon-button.tsx'
import classes from './definition-list.module.css'

export type Definition = readonly [name: string, value: ReactNode]

export function DefinitionList({ definitions }: { readonly definitions: readonly Definition[] }) {
  const known = definitions.filter(([, value]) => value !== undefined && value !== false && value !== '')
  return (
    <dl className={classes.list}>
      {known.map(([name, value]) => (
        <div key={name} className={classes.item}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A text with a button that copies it. */
export const CopyableText = ({
  text,
  what,
  large = false,
}: {
  readonly text: string
  readonly what: string
  readonly large?: boolean
}) => (
  <Group component="span" gap={4} wrap="nowrap" display="inline-flex" maw="100%">
    <Text span ff="monospace" fz={large ? 28 : 'sm'} fw={large ? 650 : undefined} className={classes.long}>
      {text}
    </Text>
    <CopyIconButton text={text} tip={`Copy ${what}`} isInline size={large ? 36 : 24} />
  </Group>
)

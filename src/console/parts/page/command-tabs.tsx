// Shows a command in a tab for each kind of installation, with a button that copies it.
import { Code, Group, Tabs, Text } from '@mantine/core'
import classes from './command-tabs.module.css'
import { CopyIconButton } from './copy-icon-button.tsx'
import type { CommandWay } from './program-commands.ts'

interface CommandTabsProps {
  /** The accessible name of the tabs. */
  readonly label: string
  readonly ways: readonly CommandWay[]
}

export const CommandTabs = ({ label, ways }: CommandTabsProps) => (
  <Tabs defaultValue={ways[0]?.id ?? null} keepMounted={false}>
    <Tabs.List aria-label={label} mb="xs">
      {ways.map(({ id, name }) => (
        <Tabs.Tab key={id} value={id}>
          {name}
        </Tabs.Tab>
      ))}
    </Tabs.List>
    {ways.map(({ id, name, text, command }) => (
      <Tabs.Panel key={id} value={id}>
        <Text fz="sm" mb={6}>
          {text}
        </Text>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <Code block className={classes.command ?? ''}>
            {command}
          </Code>
          <CopyIconButton text={command} tip="Copy" label={`Copy the command: ${name}`} />
        </Group>
      </Tabs.Panel>
    ))}
  </Tabs>
)

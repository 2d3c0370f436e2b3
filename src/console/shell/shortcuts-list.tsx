// The list of the keys that the console knows, and the switch that turns single keys off.
import { Group, Kbd, Stack, Switch, Text, Title } from '@mantine/core'
import { Fragment } from 'react'
import { paletteKeys } from './command-palette-button.tsx'
import { useNavigationItems } from './navigation.ts'
import classes from './shell.module.css'
import { useShortcutsSetting } from './shortcuts.ts'

interface KeyLine {
  readonly keys: readonly string[]
  readonly text: string
}

const listKeys: readonly KeyLine[] = [
  { keys: ['↑', '↓'], text: 'Move between rows' },
  { keys: ['Enter'], text: 'Open the row' },
  { keys: ['Space'], text: 'Select the row' },
  { keys: ['Shift', '↑', '↓'], text: 'Select several rows' },
]

export function ShortcutsList() {
  const [isOn, setIsOn] = useShortcutsSetting()
  const pages = useNavigationItems()
  const anywhere: readonly KeyLine[] = [
    { keys: [paletteKeys], text: 'Find a room, device, site or page' },
    ...(isOn
      ? [
          { keys: ['/'], text: 'Search this list' },
          { keys: ['?'], text: 'Show these keys' },
        ]
      : []),
  ]
  return (
    <Stack gap="md">
      <div className={classes.keyColumns}>
        <div>
          <KeyLines title="Anywhere" lines={anywhere} />
          <KeyLines title="In a list" lines={listKeys} />
        </div>
        {isOn && (
          <div>
            <KeyLines title="Go to" lines={pages.map(({ key, name }) => ({ keys: ['g', key], text: name }))} />
          </div>
        )}
      </div>
      <Switch
        label="Single-key shortcuts"
        description="Turn them off if you use speech input."
        checked={isOn}
        onChange={(event) => setIsOn(event.currentTarget.checked)}
      />
    </Stack>
  )
}

const KeyLines = ({ title, lines }: { readonly title: string; readonly lines: readonly KeyLine[] }) => (
  <>
    <Title order={3} fz="sm" mb="xs">
      {title}
    </Title>
    <dl className={classes.keys}>
      {lines.map(({ keys, text }) => (
        <Fragment key={text}>
          <dt>
            <Group gap={4} wrap="nowrap">
              {keys.map((key) => (
                <Kbd key={key} size="xs">
                  {key}
                </Kbd>
              ))}
            </Group>
          </dt>
          <Text component="dd" fz="sm" m={0}>
            {text}
          </Text>
        </Fragment>
      ))}
    </dl>
  </>
)

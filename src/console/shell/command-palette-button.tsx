// The button that opens the command palette, labelled with its keyboard shortcut.
import { Button, Kbd, Text } from '@mantine/core'
import { SearchIcon } from '../parts/page/icons.tsx'
import classes from './shell.module.css'

const isMac = /mac/i.test(navigator.platform)
export const paletteKeys = `${isMac ? '⌘' : 'Ctrl'} K`

export const CommandPaletteButton = ({ onClick }: { readonly onClick: () => void }) => (
  <Button
    variant="default"
    classNames={{ root: classes.search ?? '', section: classes.searchIcon ?? '' }}
    onClick={onClick}
    leftSection={<SearchIcon size={16} />}
    aria-label={`Search or jump to… ${paletteKeys}`}
    aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
  >
    <Text span fz="sm" c="dimmed" visibleFrom="sm" mr="xs">
      Search or jump to…
    </Text>
    <Kbd size="xs" visibleFrom="sm">
      {paletteKeys}
    </Kbd>
  </Button>
)

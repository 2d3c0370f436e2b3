// The button "More" at the end of a header, with the actions that are seldom needed, such as Delete.
import { Button, Menu } from '@mantine/core'
import type { ReactNode } from 'react'
import { MoreIcon } from './icons.tsx'

/** `label` says what the actions are about; the children are items of a menu. */
export const ActionsMenu = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  <Menu position="bottom-end" width={200}>
    <Menu.Target>
      <Button variant="default" px="xs" aria-label={label} title={label}>
        <MoreIcon />
      </Button>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
)

// The account menu: the key behind the session, its permissions, and signing out.
import { ActionIcon, Menu, Text } from '@mantine/core'
import { notifyError } from '../api.ts'
import { pathUnderBase } from '../base-path.ts'
import { UserIcon } from '../parts/page/icons.tsx'
import { signOut, useSession } from '../session.ts'

export function AccountMenu() {
  const { org, key, user, scopes, manage, version } = useSession()
  const name = user?.name ?? user?.email ?? key?.name ?? ''
  const permissions = [
    scopes.includes('write') ? 'Read and write' : 'Read only',
    ...(manage ? ['manage keys and users'] : []),
  ]
  const handleSignOut = () => signOut().catch(notifyError)
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={`Account: ${name}`}>
          <UserIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text fz="sm" fw={600} c="var(--mantine-color-text)">
            {name}
          </Text>
          <Text fz="xs">{permissions.join(', ')}</Text>
          <Text fz="xs">
            {org.name} ({org.id}), {org.timezone}
          </Text>
          <Text fz="xs">Roomkeeper {version}</Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Item component="a" href={pathUnderBase('/docs')} target="_blank" rel="noreferrer">
          API reference
        </Menu.Item>
        <Menu.Item onClick={handleSignOut}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

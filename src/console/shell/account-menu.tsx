// The account menu: the person or key behind the session, their access, and signing out.
import { ActionIcon, Menu, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { notifyError } from '../api.ts'
import { pathUnderBase } from '../base-path.ts'
import { regionsLine, useOwnRegionNames } from '../domain/fleet/site/own-regions.ts'
import { accessText } from '../domain/people/key/api-key.ts'
import { roleNames } from '../domain/people/person/roles.ts'
import { UserIcon } from '../parts/page/icons.tsx'
import { signOut, useSession } from '../session.ts'

export function AccountMenu({ onShowKeys }: { readonly onShowKeys: () => void }) {
  const { org, key, user, scopes, manage, version, commit } = useSession()
  const name = user?.name ?? user?.email ?? key?.name ?? ''
  const regionNames = useOwnRegionNames()
  const access = user ? roleNames[user.role] : accessText({ scopes: [...scopes], manage })
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
          {user?.name && <Text fz="xs">{user.email}</Text>}
          <Text fz="xs">{access}</Text>
          {regionNames && <Text fz="xs">{regionsLine(regionNames)}</Text>}
          <Text fz="xs">
            {org.name} ({org.id}), {org.timezone}
          </Text>
          <Text fz="xs">
            Roomkeeper {version} {commit && `(${commit})`}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        {user && <Menu.Item renderRoot={(props) => <Link to="/account" {...props} />}>My profile</Menu.Item>}
        <Menu.Item component="a" href={pathUnderBase('/docs')} target="_blank" rel="noreferrer">
          API reference
        </Menu.Item>
        <Menu.Item onClick={onShowKeys}>Keyboard shortcuts</Menu.Item>
        <Menu.Item onClick={handleSignOut}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

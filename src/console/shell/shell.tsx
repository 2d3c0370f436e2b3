// The frame around every page: where one can go, what is live, who is signed in.
import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  Modal,
  NavLink,
  ScrollArea,
  Stack,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, useEffect } from 'react'
import { MoonIcon, SunIcon } from '../parts/page/icons.tsx'
import { LoadingBoundary } from '../parts/page/page.tsx'
import { useSession } from '../session.ts'
import { AccountMenu } from './account-menu.tsx'
import { CommandPaletteButton } from './command-palette-button.tsx'
import { LiveIndicator } from './live-indicator.tsx'
import { Logo } from './logo.tsx'
import { navigationItems } from './navigation.ts'

const Palette = lazy(() => import('./command-palette.tsx').then((module) => ({ default: module.CommandPalette })))

/** A link to a list is not where one is when one looks at a part of the list. */
const exact = { exact: true, includeSearch: false }

export function Shell() {
  const { org } = useSession()
  const [menuOpened, menu] = useDisclosure(false)
  const [paletteOpened, palette] = useDisclosure(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  /** The page that is drawn: while the next one is loaded, the one before it. */
  const drawn = useRouterState({ select: (state) => state.matches.at(-1)?.pathname })
  useHotkeys([['mod+K', palette.toggle]], [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page was opened, so the menu has done its work
  useEffect(() => menu.close(), [path])
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 216, breakpoint: 'md', collapsed: { mobile: !menuOpened } }}
      padding={{ base: 'md', lg: 'xl' }}
    >
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <AppShell.Header bg="var(--rk-panel)" px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={menuOpened}
              onClick={menu.toggle}
              hiddenFrom="md"
              size="sm"
              aria-label="Menu"
              aria-expanded={menuOpened}
            />
            <Logo />
            <Text fw={650} visibleFrom="xs">
              Roomkeeper
            </Text>
            <Text c="dimmed" fz="sm" truncate visibleFrom="sm" maw={260}>
              {org.name}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <CommandPaletteButton onClick={palette.open} />
            <LiveIndicator />
            <SchemeButton />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar bg="var(--rk-panel)" p="sm" aria-label="Pages">
        <ScrollArea>
          <Stack gap={2}>
            {navigationItems.map(({ to, name, icon: Icon }) => (
              <NavLink
                key={to}
                component={Link}
                to={to}
                label={name}
                leftSection={<Icon />}
                active={to === '/' ? path === '/' : path.startsWith(to)}
                activeOptions={exact}
                variant="light"
                style={{ borderRadius: 'var(--mantine-radius-md)' }}
              />
            ))}
          </Stack>
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} bg="var(--rk-page)">
        <LoadingBoundary key={drawn}>
          <Outlet />
        </LoadingBoundary>
      </AppShell.Main>
      <Modal
        opened={paletteOpened}
        onClose={palette.close}
        withCloseButton={false}
        padding={0}
        size="lg"
        yOffset="12dvh"
        centered={false}
        attributes={{ content: { 'aria-label': 'Search or jump to' } }}
      >
        <LoadingBoundary>
          <Palette onClose={palette.close} />
        </LoadingBoundary>
      </Modal>
    </AppShell>
  )
}

function SchemeButton() {
  const scheme = useComputedColorScheme('light')
  const { setColorScheme } = useMantineColorScheme()
  const other = scheme === 'dark' ? 'light' : 'dark'
  return (
    <Tooltip label={`Use ${other} colours`}>
      <ActionIcon variant="default" size="lg" aria-label={`Use ${other} colours`} onClick={() => setColorScheme(other)}>
        {scheme === 'dark' ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
    </Tooltip>
  )
}

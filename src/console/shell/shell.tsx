// The frame around every page: header, navigation and command palette.
import {
  ActionIcon,
  AppShell,
  Badge,
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
import { useConnectionLost } from '../parts/live/connection-lost.ts'
import { MoonIcon, SunIcon } from '../parts/page/icons.tsx'
import { LoadingBoundary } from '../parts/page/page.tsx'
import { PageSkeleton } from '../parts/page/skeleton.tsx'
import { VisuallyHidden } from '../parts/page/visually-hidden.tsx'
import { loadCode } from '../parts/recovery/load-code.ts'
import { useSession } from '../session.ts'
import { AccountMenu } from './account-menu.tsx'
import { CommandPaletteButton } from './command-palette-button.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import { LiveIndicator } from './live-indicator.tsx'
import { Logo } from './logo.tsx'
import { useNavigationItems } from './navigation.ts'
import { PrintHeader } from './print-header.tsx'
import { RegionsNote } from './regions-note.tsx'
import classes from './shell.module.css'
import { useShortcuts } from './shortcuts.ts'
import { ViewLinks } from './view-links.tsx'

const Palette = lazy(() =>
  loadCode(() => import('./command-palette.tsx')).then((module) => ({ default: module.CommandPalette })),
)

const Shortcuts = lazy(() =>
  loadCode(() => import('./shortcuts-list.tsx')).then((module) => ({ default: module.ShortcutsList })),
)

/** A link is marked as the current page only for its exact path: a filtered list or a detail page is another place. */
const exact = { exact: true, includeSearch: false }

export function Shell() {
  const { org } = useSession()
  const navigationItems = useNavigationItems()
  const [menuOpened, menu] = useDisclosure(false)
  const [paletteOpened, palette] = useDisclosure(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  /** The path of the page that is rendered; while the next page loads, this is still the one before it. */
  const renderedPath = useRouterState({ select: (state) => state.matches.at(-1)?.pathname })
  const lastUpdateMs = useConnectionLost()
  const isOutdated = lastUpdateMs !== undefined
  const [keysOpened, keys] = useDisclosure(false)
  useHotkeys([['mod+K', palette.toggle]], [])
  useShortcuts({ search: palette.open, showKeys: keys.open })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes whenever another page is opened
  useEffect(() => menu.close(), [path])
  return (
    <AppShell
      header={{ height: isOutdated ? { base: 112, sm: 96 } : 56 }}
      navbar={{ width: 216, breakpoint: 'md', collapsed: { mobile: !menuOpened } }}
      padding={{ base: 'md', lg: 'lg' }}
    >
      <a className="skip" href="#main">
        Skip to content
      </a>
      <AppShell.Header bg="var(--rk-panel)" px="md">
        <Group h={56} justify="space-between" wrap="nowrap">
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
            <Text fw={600} visibleFrom="xs">
              Roomkeeper
            </Text>
            <Text c="dimmed" fz="sm" truncate visibleFrom="sm" maw={260}>
              {org.name}
            </Text>
            <RegionsNote />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <CommandPaletteButton onClick={palette.open} />
            <LiveIndicator />
            <SchemeButton />
            <AccountMenu onShowKeys={keys.open} />
          </Group>
        </Group>
        <div role="alert" className={classes.alert}>
          {isOutdated && <ConnectionBanner lastUpdateMs={lastUpdateMs} />}
        </div>
      </AppShell.Header>
      <AppShell.Navbar bg="var(--rk-panel)" p="sm" aria-label="Pages">
        <ScrollArea>
          <Stack gap={2}>
            {navigationItems.map(({ to, name, icon: Icon, useCount }) => (
              <NavLink
                key={to}
                component={Link}
                to={to}
                label={name}
                leftSection={<Icon />}
                rightSection={useCount && <ItemCount useCount={useCount} />}
                active={to === '/' ? path === '/' : path.startsWith(to)}
                activeOptions={exact}
                variant="light"
                style={{ borderRadius: 'var(--mantine-radius-md)' }}
              />
            ))}
          </Stack>
          <ViewLinks />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} bg="var(--rk-page)">
        <PrintHeader />
        <div className={isOutdated ? classes.outdated : undefined}>
          <LoadingBoundary key={renderedPath} skeleton={<PageSkeleton />}>
            <Outlet />
          </LoadingBoundary>
        </div>
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
          <Palette onClose={palette.close} onShowKeys={keys.open} />
        </LoadingBoundary>
      </Modal>
      <Modal opened={keysOpened} onClose={keys.close} title="Keyboard shortcuts" size="lg">
        <LoadingBoundary>
          <Shortcuts />
        </LoadingBoundary>
      </Modal>
    </AppShell>
  )
}

function ItemCount({ useCount }: { readonly useCount: () => number | undefined }) {
  const count = useCount()
  if (!count) return null
  return (
    <Badge size="sm" color="fjord" tt="none">
      {count.toLocaleString('en-GB')}
      <VisuallyHidden> open</VisuallyHidden>
    </Badge>
  )
}

function SchemeButton() {
  const scheme = useComputedColorScheme('light')
  const { setColorScheme } = useMantineColorScheme()
  const other = scheme === 'dark' ? 'light' : 'dark'
  return (
    <Tooltip label={`Switch to ${other} mode`}>
      <ActionIcon
        variant="default"
        size="lg"
        aria-label={`Switch to ${other} mode`}
        onClick={() => setColorScheme(other)}
      >
        {scheme === 'dark' ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
    </Tooltip>
  )
}

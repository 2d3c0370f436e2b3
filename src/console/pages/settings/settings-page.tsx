// The settings page has tabs for people, API keys, the identity provider, notifications, rules, gateways, sources, the organisation, and information about the installation.
import { Tabs } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { type ComponentType, lazy } from 'react'
import { LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { loadCode } from '../../parts/recovery/load-code.ts'
import { Notice } from '../../parts/text/notice.tsx'
import { usePermissions } from '../../session.ts'
import { AboutSection } from './about-section.tsx'
import { KeysSection, NoKeyAccess } from './keys/keys-section.tsx'
import { PeopleSection } from './people/people-section.tsx'

const route = getRouteApi('/settings')

const IdentityTab = lazy(() =>
  loadCode(() => import('./identity/sign-in-settings.tsx')).then((module) => ({ default: module.SignInSettings })),
)

const NotificationsTab = lazy(() =>
  loadCode(() => import('./channels/channels-section.tsx')).then((module) => ({ default: module.ChannelsSection })),
)
const RulesTab = lazy(() =>
  loadCode(() => import('./rules/rules-section.tsx')).then((module) => ({ default: module.RulesSection })),
)
const GatewaysTab = lazy(() =>
  loadCode(() => import('./gateways/gateways-section.tsx')).then((module) => ({ default: module.GatewaysSection })),
)
const SourcesTab = lazy(() =>
  loadCode(() => import('./sources/sources-section.tsx')).then((module) => ({ default: module.SourcesSection })),
)

const OrganisationTab = lazy(() =>
  loadCode(() => import('./organisation/organisation-section.tsx')).then((module) => ({
    default: module.OrganisationSection,
  })),
)

interface SettingsTab {
  readonly id: string
  readonly name: string
  readonly content: ComponentType
  readonly onlyForManagers?: boolean
}

const tabs: readonly SettingsTab[] = [
  { id: 'people', name: 'People', content: PeopleSection },
  { id: 'keys', name: 'API keys', content: () => (usePermissions().manage ? <KeysSection /> : <NoKeyAccess />) },
  { id: 'identity', name: 'Sign-in', content: IdentityTab, onlyForManagers: true },
  { id: 'notifications', name: 'Notifications', content: NotificationsTab, onlyForManagers: true },
  { id: 'rules', name: 'Rules', content: RulesTab },
  { id: 'gateways', name: 'Gateways', content: GatewaysTab },
  { id: 'sources', name: 'Sources', content: SourcesTab },
  { id: 'organisation', name: 'Organisation', content: OrganisationTab },
  { id: 'about', name: 'About', content: AboutSection },
]

export function SettingsPage() {
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  const { manage } = usePermissions()
  const offered = tabs.filter(({ onlyForManagers }) => manage || !onlyForManagers)
  const opened = offered.find(({ id }) => id === tab) ?? offered[0]
  const refused = manage ? undefined : tabs.find(({ id, onlyForManagers }) => id === tab && onlyForManagers)
  return (
    <Page title="Settings">
      {refused && <Notice tone="quiet">You need Manage access to open {refused.name}. Ask an owner.</Notice>}
      <Tabs
        value={opened?.id ?? null}
        onChange={(id) => void navigate({ search: id === 'people' || id === null ? {} : { tab: id }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md" aria-label="Settings">
          {offered.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {offered.map(({ id, content: Content }) => (
          <Tabs.Panel key={id} value={id}>
            <LoadingBoundary>
              <Content />
            </LoadingBoundary>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}

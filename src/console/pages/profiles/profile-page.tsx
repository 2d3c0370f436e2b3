// The profile page has tabs for the settings, the reach and the versions of one profile; a new one has its settings only.
import { Breadcrumbs, Tabs, Text } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ComponentType, useMemo } from 'react'
import { useBody, useResponse } from '../../api.ts'
import { EmptyState, LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { DeleteProfile } from './profile-delete.tsx'
import { ProfileEditor } from './profile-editor.tsx'
import { draftOfProfile } from './profile-fields.ts'
import { ProfileReach } from './profile-reach.tsx'
import { ProfileVersions } from './profile-versions.tsx'

export function ProfilePage() {
  const { profileId } = useParams({ from: '/profiles/$profileId' })
  const { profiles } = useBody('profilesList')
  const listed = profiles.find(({ id }) => String(id) === profileId)
  const may = usePermissions()
  if (listed) return <ProfileView id={listed.id} />
  return profileId === 'new' && may.everywhere ? <NewProfile /> : <ProfileNotFound />
}

const breadcrumbs = (
  <nav aria-label="Breadcrumb">
    <Breadcrumbs mb={6} fz="sm">
      <Link to="/profiles" activeOptions={{ exact: true }}>
        Profiles
      </Link>
    </Breadcrumbs>
  </nav>
)

const tabs: readonly { id: string; name: string; content: ComponentType<{ readonly id: number }> }[] = [
  { id: 'settings', name: 'Settings', content: ProfileSettings },
  { id: 'reach', name: 'Rooms and devices', content: ProfileReach },
  { id: 'versions', name: 'Versions', content: ProfileVersions },
]

function ProfileView({ id }: { readonly id: number }) {
  const { tab } = useSearch({ from: '/profiles/$profileId' })
  const navigate = useNavigate({ from: '/profiles/$profileId' })
  const { body, etag } = useResponse('profilesGet', { id })
  const may = usePermissions()
  const opened = tabs.find((one) => one.id === tab) ?? tabs[0]
  return (
    <Page
      title={body.profile.name}
      above={breadcrumbs}
      actions={may.everywhere && <DeleteProfile id={id} name={body.profile.name} etag={etag} />}
    >
      <Tabs
        value={opened?.id ?? null}
        onChange={(chosen) =>
          void navigate({ search: chosen === 'settings' || chosen === null ? {} : { tab: chosen }, replace: true })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md" aria-label="Profile details">
          {tabs.map((one) => (
            <Tabs.Tab key={one.id} value={one.id}>
              {one.name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ id: tabId, content: Content }) => (
          <Tabs.Panel key={tabId} value={tabId}>
            <LoadingBoundary>
              <Content id={id} />
            </LoadingBoundary>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}

function ProfileSettings({ id }: { readonly id: number }) {
  const { body, etag } = useResponse('profilesGet', { id })
  const stored = useMemo(() => draftOfProfile(body.profile, body.config), [body])
  return <ProfileEditor id={id} stored={stored} etag={etag} />
}

const emptyDraft = {}

const NewProfile = () => (
  <Page title="New profile" above={breadcrumbs}>
    <Text c="dimmed" maw={720}>
      Choose the settings to lock. Everything else stays editable per device. After saving, assign the profile to rooms
      or devices.
    </Text>
    <ProfileEditor id={undefined} stored={emptyDraft} etag={undefined} />
  </Page>
)

const ProfileNotFound = () => (
  <Page title="Profile not found" above={breadcrumbs}>
    <EmptyState title="There is no profile at this address">
      The profile may have been deleted. <Link to="/profiles">View all profiles</Link>
    </EmptyState>
  </Page>
)

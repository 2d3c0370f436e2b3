// The profile page shows the name, description and locked settings of one profile, or of a new one.
import { Breadcrumbs, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useBody, useResponse } from '../../api.ts'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { DeleteProfile } from './profile-delete.tsx'
import { ProfileEditor } from './profile-editor.tsx'
import { draftOfProfile } from './profile-fields.ts'

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

function ProfileView({ id }: { readonly id: number }) {
  const { body, etag } = useResponse('profilesGet', { id })
  const may = usePermissions()
  const stored = useMemo(() => draftOfProfile(body.profile, body.config), [body])
  return (
    <Page
      title={body.profile.name}
      above={breadcrumbs}
      actions={may.everywhere && <DeleteProfile id={id} name={body.profile.name} etag={etag} />}
    >
      <ProfileEditor id={id} stored={stored} etag={etag} />
    </Page>
  )
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

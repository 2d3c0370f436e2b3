// One profile, or a new one: what it is called, and which settings it fixes.
import { Breadcrumbs, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useBody, useResponse } from '../../api.ts'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { DeleteProfile } from './profile-delete.tsx'
import { ProfileEditor } from './profile-editor.tsx'
import { asDraft } from './profile-fields.ts'

export function ProfilePage() {
  const { profileId } = useParams({ from: '/profiles/$profileId' })
  const { profiles } = useBody('profilesList')
  const known = profiles.find(({ id }) => String(id) === profileId)
  const may = usePermissions()
  if (known) return <KnownProfile id={known.id} />
  return profileId === 'new' && may.write ? <NewProfile /> : <NoSuchProfile />
}

const above = (
  <nav aria-label="Where it is">
    <Breadcrumbs mb={6} fz="sm">
      <Link to="/profiles" activeOptions={{ exact: true }}>
        Profiles
      </Link>
    </Breadcrumbs>
  </nav>
)

function KnownProfile({ id }: { readonly id: number }) {
  const { body, etag } = useResponse('profilesGet', { id })
  const may = usePermissions()
  const stored = useMemo(() => asDraft(body.profile, body.config), [body])
  return (
    <Page
      title={body.profile.name}
      above={above}
      actions={may.write && <DeleteProfile id={id} name={body.profile.name} etag={etag} />}
    >
      <ProfileEditor id={id} stored={stored} etag={etag} />
    </Page>
  )
}

const blank = {}

const NewProfile = () => (
  <Page title="New profile" above={above}>
    <Text c="dimmed" maw={720}>
      Set what all rooms and devices with this profile should have in common. What you leave alone is left to each
      device. A new profile does nothing until it is given to a room or a device.
    </Text>
    <ProfileEditor id={undefined} stored={blank} etag={undefined} />
  </Page>
)

const NoSuchProfile = () => (
  <Page title="No such profile" above={above}>
    <EmptyState title="There is no profile at this address">
      It may have been deleted. <Link to="/profiles">All profiles</Link> shows those that there are.
    </EmptyState>
  </Page>
)

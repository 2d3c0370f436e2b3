// The profiles page lists all profiles with their descriptions and locked settings.
import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { settingName } from '../../../contract/device/setting-names.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { operationQuery, useBody } from '../../api.ts'
import { PlusIcon } from '../../parts/page/icons.tsx'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { longTable } from '../../parts/table/long-table.tsx'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import { reachText } from './reach-text.ts'

type Profile = ResponseOf<Operations['profilesList']>['profiles'][number]

const columns: readonly Column<Profile>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(160px, 3fr)',
    sortValue: ({ name }) => name.toLowerCase(),
    cell: ({ id, name }) => (
      <Link to="/profiles/$profileId" params={{ profileId: String(id) }} title={name}>
        {name}
      </Link>
    ),
  },
  {
    id: 'description',
    title: 'Description',
    width: 'minmax(160px, 4fr)',
    cell: ({ description }) => <span title={description}>{description}</span>,
  },
  {
    id: 'reach',
    title: 'Reach',
    width: '190px',
    cell: ({ id }) => <Reach id={id} />,
  },
  {
    id: 'settings',
    title: 'Locked settings',
    width: 'minmax(200px, 5fr)',
    cell: ({ id }) => <LockedSettings id={id} />,
  },
]

export function ProfilesPage() {
  const may = usePermissions()
  const { profiles } = useBody('profilesList')
  const sorted = useMemo(
    () => profiles.toSorted((a, b) => a.name.localeCompare(b.name, 'en-GB', { numeric: true }) || a.id - b.id),
    [profiles],
  )
  return (
    <Page
      title="Profiles"
      actions={
        may.everywhere && (
          <Button
            renderRoot={(props) => <Link to="/profiles/$profileId" params={{ profileId: 'new' }} {...props} />}
            leftSection={<PlusIcon />}
          >
            New profile
          </Button>
        )
      }
    >
      <Text c="dimmed" maw={720}>
        Profiles lock settings for a group of rooms and devices. Settings not in the profile stay editable per device.
      </Text>
      <DataTable
        label="Profiles"
        long={longTable({})}
        rows={sorted}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="No profiles yet">
            {may.everywhere
              ? 'Create a profile for settings shared by many rooms, then assign it to rooms.'
              : 'Admins and owners who see all regions create profiles. Ask one of them.'}
          </EmptyState>
        }
      />
    </Page>
  )
}

/** The list has no numbers, so each row that is visible reads its own. */
function Reach({ id }: { readonly id: number }) {
  const { data } = useQuery(operationQuery('profilesReach', { id }))
  return data && reachText(data.body)
}

/** The list has no settings, so each row that is visible reads its own profile. */
function LockedSettings({ id }: { readonly id: number }) {
  const { data } = useQuery(operationQuery('profilesGet', { id }))
  if (!data) return null
  const names = Object.keys(data.body.config)
  if (names.length === 0) {
    return (
      <Text span c="dimmed" fz="sm">
        No visible settings
      </Text>
    )
  }
  const text = names.map(settingName).join(', ')
  return (
    <span title={text}>
      <b>{plural(names.length, 'setting')}</b>: {text}
    </span>
  )
}

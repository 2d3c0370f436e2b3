// All profiles: what each is for, and which settings it fixes.
import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { operationQuery, useBody } from '../../api.ts'
import { PlusIcon } from '../../parts/page/icons.tsx'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import { settingName } from '../../parts/settings-form/setting-sections.ts'
import { type Column, VirtualTable } from '../../parts/table/virtual-table.tsx'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'

type Profile = ResponseOf<Operations['profilesList']>['profiles'][number]

const columns: readonly Column<Profile>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(160px, 3fr)',
    cell: ({ id, name }) => (
      <Link to="/profiles/$profileId" params={{ profileId: String(id) }} title={name}>
        {name}
      </Link>
    ),
  },
  {
    id: 'description',
    title: 'What it is for',
    width: 'minmax(160px, 4fr)',
    cell: ({ description }) => <span title={description}>{description}</span>,
  },
  {
    id: 'settings',
    title: 'What it fixes',
    width: 'minmax(200px, 5fr)',
    cell: ({ id }) => <Fixes id={id} />,
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
        may.write && (
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
        A profile fixes settings for all rooms and devices that have it. Nobody can change those settings on a single
        device; the others are left to each device.
      </Text>
      <VirtualTable
        label="Profiles"
        rows={sorted}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="There is no profile yet">
            {may.write
              ? 'Make one for what many rooms should have in common, for example night mode and a screen that sleeps. Then give it to a room: all its devices take it.'
              : 'A key that may write can make one.'}
          </EmptyState>
        }
      />
    </Page>
  )
}

/** The list does not say it: each row in sight asks for itself. */
function Fixes({ id }: { readonly id: number }) {
  const { data } = useQuery(operationQuery('profilesGet', { id }))
  if (!data) return null
  const names = Object.keys(data.body.config)
  if (names.length === 0) {
    return (
      <Text span c="dimmed" fz="sm">
        No settings that can be shown
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

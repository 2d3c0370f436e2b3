// Lists the API keys with their access and their last use; keys can be created and revoked. [contract 3.1]
import { Badge, Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useBody } from '../../../api.ts'
import type { ApiKey } from '../../../domain/people/key/api-key.ts'
import {
  accessColumn,
  expiresColumn,
  keyNameColumn,
  lastUsedColumn,
  prefixColumn,
  revokeColumn,
} from '../../../domain/people/key/key-columns.tsx'
import { NewKeyDialog } from '../../../domain/people/key/new-key-dialog.tsx'
import { regionsText } from '../../../domain/people/person/person.ts'
import { CommandTabs } from '../../../parts/page/command-tabs.tsx'
import { PlusIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { keyCommands } from '../../../parts/page/program-commands.ts'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { useSession } from '../../../session.ts'
import { NewKeyForm } from './new-key-form.tsx'
import { RevokeKey } from './revoke-key.tsx'

export function KeysSection() {
  const { keys } = useBody('keysList')
  const { regions } = useBody('regionsList')
  const { users } = useBody('usersList')
  const regionNames = useMemo(() => new Map(regions.map(({ id, name }) => [id, name])), [regions])
  const ownId = useSession().key?.id
  const [creating, create] = useDisclosure(false)
  const [revoking, revoke] = useDisclosure(false)
  const [selectedKey, setSelectedKey] = useState<ApiKey>()
  const confirmRevoke = (key: ApiKey) => {
    setSelectedKey(key)
    revoke.open()
  }
  const emails = new Map(users.map(({ id, email }) => [id, email]))
  const columns = keyColumns({ regionNames, emails, ownId, onRevoke: confirmRevoke })
  return (
    <Section
      title="API keys"
      actions={
        <Button size="xs" leftSection={<PlusIcon size={16} />} onClick={create.open}>
          New key
        </Button>
      }
    >
      <Text fz="sm" c="dimmed" mb="sm">
        Used by integrations. Create one key for each system, with the least access needed. People sign in as
        themselves; see People.
      </Text>
      <DataTable label="API keys" rows={keys} columns={columns} keyOf={({ id }) => id} minWidthPx={820} />
      <NewKeyDialog
        title="New API key"
        opened={creating}
        onClose={create.close}
        form={(onCreated) => <NewKeyForm regions={regions} onCancel={create.close} onCreated={onCreated} />}
      />
      <RevokeKey apiKey={selectedKey} keys={keys} opened={revoking} onClose={revoke.close} />
    </Section>
  )
}

interface KeyColumnOptions {
  readonly regionNames: ReadonlyMap<number, string>
  readonly emails: ReadonlyMap<string, string>
  /** The key of this session. */
  readonly ownId: string | undefined
  readonly onRevoke: (key: ApiKey) => void
}

const keyColumns = ({ regionNames, emails, ownId, onRevoke }: KeyColumnOptions): readonly Column<ApiKey>[] => [
  {
    ...keyNameColumn,
    cell: ({ id, name, userId }) => (
      <>
        <Group gap="xs">
          <span style={{ overflowWrap: 'anywhere' }}>{name}</span>
          {id === ownId && (
            <Badge variant="light" tt="none">
              This session
            </Badge>
          )}
        </Group>
        {userId !== undefined && (
          <Text fz="xs" c="dimmed" fw={400} style={{ overflowWrap: 'anywhere' }}>
            Personal key of {emails.get(userId) ?? `person ${userId}`}
          </Text>
        )}
      </>
    ),
  },
  prefixColumn,
  accessColumn,
  {
    id: 'regions',
    title: 'Regions',
    cell: ({ userId, regionIds }) =>
      userId === undefined
        ? regionsText({ allRegions: regionIds === undefined, regionIds: regionIds ?? [] }, regionNames)
        : 'As the person',
  },
  {
    id: 'created',
    title: 'Created',
    sortValue: ({ createdAt }) => Date.parse(createdAt),
    cell: ({ createdAt }) => <DateTime at={createdAt} />,
  },
  expiresColumn,
  lastUsedColumn,
  revokeColumn(onRevoke),
]

/** Tells a session without Manage how to get access. */
export function NoKeyAccess() {
  const { user, org } = useSession()
  return (
    <Section title="API keys">
      {user ? (
        <Text fz="sm">
          Owners manage API keys. Your own keys are under <Link to="/account">My profile</Link>.
        </Text>
      ) : (
        <>
          <Text fz="sm" mb="sm">
            You need Write and Manage access to manage keys. Ask an owner, or create a key on the machine of the server.
            Add the --config or --data-dir that the server was started with.
          </Text>
          <CommandTabs label="Ways to create a key" ways={keyCommands(org.id)} />
        </>
      )}
    </Section>
  )
}

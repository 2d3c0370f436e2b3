// Lists the API keys with their access and their last use; keys can be created and revoked. [contract 3.1]
import { ActionIcon, Badge, Button, Code, Group, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useBody } from '../../../api.ts'
import { type ApiKey, accessText, isKeyExpired } from '../../../domain/people/key/api-key.ts'
import { NewKeyDialog } from '../../../domain/people/key/new-key-dialog.tsx'
import { regionsText } from '../../../domain/people/person/person.ts'
import { BinIcon, PlusIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
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
      <Table.ScrollContainer minWidth={820}>
        <Table verticalSpacing="xs" aria-label="API keys">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Name</Table.Th>
              <Table.Th scope="col">Prefix</Table.Th>
              <Table.Th scope="col">Access</Table.Th>
              <Table.Th scope="col">Regions</Table.Th>
              <Table.Th scope="col">Created</Table.Th>
              <Table.Th scope="col">Expires</Table.Th>
              <Table.Th scope="col">Last used</Table.Th>
              <Table.Td />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map((key) => (
              <KeyRow
                key={key.id}
                apiKey={key}
                regions={regionsText(
                  { allRegions: key.regionIds === undefined, regionIds: key.regionIds ?? [] },
                  regionNames,
                )}
                person={users.find(({ id }) => id === key.userId)?.email}
                isOwn={key.id === ownId}
                onRevoke={confirmRevoke}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
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

interface KeyRowProps {
  readonly apiKey: ApiKey
  readonly regions: string
  /** The e-mail address of the person whom a personal key belongs to. */
  readonly person: string | undefined
  readonly isOwn: boolean
  readonly onRevoke: (key: ApiKey) => void
}

const KeyRow = ({ apiKey: key, regions, person, isOwn, onRevoke }: KeyRowProps) => (
  <Table.Tr>
    <Table.Th scope="row" fw={550}>
      <Group gap="xs">
        <span style={{ overflowWrap: 'anywhere' }}>{key.name}</span>
        {isOwn && (
          <Badge variant="light" tt="none">
            This session
          </Badge>
        )}
      </Group>
      {key.userId !== undefined && (
        <Text fz="xs" c="dimmed" fw={400} style={{ overflowWrap: 'anywhere' }}>
          Personal key of {person ?? `person ${key.userId}`}
        </Text>
      )}
    </Table.Th>
    <Table.Td>
      <Code>{key.prefix}…</Code>
    </Table.Td>
    <Table.Td>{accessText(key)}</Table.Td>
    <Table.Td>{key.userId === undefined ? regions : 'As the person'}</Table.Td>
    <Table.Td>
      <DateTime at={key.createdAt} />
    </Table.Td>
    <Table.Td>
      {!key.expiresAt && (
        <Text span fz="sm" c="dimmed">
          Never
        </Text>
      )}
      {key.expiresAt && (
        <Text span fz="sm" c={isKeyExpired(key) ? 'var(--rk-offline)' : 'var(--mantine-color-text)'}>
          {isKeyExpired(key) && 'Expired '}
          <DateTime at={key.expiresAt} />
        </Text>
      )}
    </Table.Td>
    <Table.Td>
      {key.lastUsedAt ? (
        <DateTime at={key.lastUsedAt} />
      ) : (
        <Text span fz="sm" c="dimmed">
          Never
        </Text>
      )}
    </Table.Td>
    <Table.Td ta="right">
      <ActionIcon
        variant="subtle"
        color="gray"
        c="dimmed"
        aria-label={`Revoke ${key.name} (${key.prefix}…)`}
        title="Revoke"
        onClick={() => onRevoke(key)}
      >
        <BinIcon />
      </ActionIcon>
    </Table.Td>
  </Table.Tr>
)

/** Tells a session without Manage how to get access. */
export function NoKeyAccess() {
  const { user } = useSession()
  return (
    <Section title="API keys">
      {user ? (
        <Text fz="sm">
          Owners manage API keys. Your own keys are under <Link to="/account">My profile</Link>.
        </Text>
      ) : (
        <Text fz="sm">
          You need Write and Manage access to manage keys. Ask an owner, or create a key on the server:{' '}
          <Code>npm run roomkeeper -- keys create</Code>
        </Text>
      )}
    </Section>
  )
}

// Lists the personal API keys of the person; keys can be created and revoked. [contract 11.local]
import { ActionIcon, Button, Code, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { maxPersonalKeys } from '../../../contract/people/me.ts'
import { useBody, useWrite } from '../../api.ts'
import { type ApiKey, accessText, isKeyExpired } from '../../domain/people/key/api-key.ts'
import { NewKeyDialog } from '../../domain/people/key/new-key-dialog.tsx'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { BinIcon, PlusIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { OwnKeyForm } from './own-key-form.tsx'

export function OwnKeysSection() {
  const { keys } = useBody('myKeysList')
  const [creating, create] = useDisclosure(false)
  const [revoking, revoke] = useDisclosure(false)
  const [selected, setSelected] = useState<ApiKey>()
  const confirmRevoke = (key: ApiKey) => {
    setSelected(key)
    revoke.open()
  }
  return (
    <Section
      title="Personal API keys"
      actions={
        keys.length < maxPersonalKeys && (
          <Button size="xs" leftSection={<PlusIcon size={16} />} onClick={create.open}>
            New personal key
          </Button>
        )
      }
    >
      <Text fz="sm" c="dimmed" mb="sm">
        For your own scripts. A key can do no more than you can, and stops working when you have not signed in for 30
        days. You can have up to {maxPersonalKeys}.
      </Text>
      {keys.length === 0 ? (
        <Text fz="sm">No personal keys yet</Text>
      ) : (
        <KeysTable keys={keys} onRevoke={confirmRevoke} />
      )}
      <NewKeyDialog
        title="New personal key"
        opened={creating}
        onClose={create.close}
        form={(onCreated) => <OwnKeyForm onCancel={create.close} onCreated={onCreated} />}
      />
      <RevokeOwnKey apiKey={selected} opened={revoking} onClose={revoke.close} />
    </Section>
  )
}

interface KeysTableProps {
  readonly keys: readonly ApiKey[]
  readonly onRevoke: (key: ApiKey) => void
}

const KeysTable = ({ keys, onRevoke }: KeysTableProps) => (
  <Table.ScrollContainer minWidth={640}>
    <Table verticalSpacing="xs" aria-label="Personal API keys">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Name</Table.Th>
          <Table.Th scope="col">Prefix</Table.Th>
          <Table.Th scope="col">Access</Table.Th>
          <Table.Th scope="col">Expires</Table.Th>
          <Table.Th scope="col">Last used</Table.Th>
          <Table.Td />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {keys.map((key) => (
          <Table.Tr key={key.id}>
            <Table.Th scope="row" fw={550} style={{ overflowWrap: 'anywhere' }}>
              {key.name}
            </Table.Th>
            <Table.Td>
              <Code>{key.prefix}…</Code>
            </Table.Td>
            <Table.Td>{accessText(key)}</Table.Td>
            <Table.Td c={isKeyExpired(key) ? 'var(--rk-offline)' : 'var(--mantine-color-text)'}>
              {isKeyExpired(key) && 'Expired '}
              {key.expiresAt && <DateTime at={key.expiresAt} />}
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
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)

interface RevokeOwnKeyProps {
  readonly apiKey: ApiKey | undefined
  readonly opened: boolean
  readonly onClose: () => void
}

function RevokeOwnKey({ apiKey: key, opened, onClose }: RevokeOwnKeyProps) {
  const revoke = useWrite('myKeysDelete', { successText: `Key ${key?.name} revoked`, onDone: onClose, quiet: true })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="Revoke this key?"
      verb="Revoke key"
      mutation={revoke}
      onConfirm={() => key && revoke.mutate({ input: { id: key.id } })}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        <b>{key?.name}</b> ({key?.prefix}…) stops working immediately. This cannot be undone.
      </Text>
    </ConfirmDialog>
  )
}

// Lists the personal API keys of the person; keys can be created and revoked. [contract 11.local]
import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { maxPersonalKeys } from '../../../contract/people/me.ts'
import { useBody, useWrite } from '../../api.ts'
import type { ApiKey } from '../../domain/people/key/api-key.ts'
import {
  accessColumn,
  expiresColumn,
  keyNameColumn,
  lastUsedColumn,
  prefixColumn,
  revokeColumn,
} from '../../domain/people/key/key-columns.tsx'
import { NewKeyDialog } from '../../domain/people/key/new-key-dialog.tsx'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { PlusIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
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
  <DataTable
    label="Personal API keys"
    rows={keys}
    columns={[...columns, revokeColumn(onRevoke)]}
    keyOf={({ id }) => id}
    minWidthPx={640}
  />
)

const columns: readonly Column<ApiKey>[] = [keyNameColumn, prefixColumn, accessColumn, expiresColumn, lastUsedColumn]

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

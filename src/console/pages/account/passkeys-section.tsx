// Lists the passkeys of the person; passkeys can be added and removed. [contract 11.local]
import { ActionIcon, Button, Modal, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { maxPasskeys, type Passkey } from '../../../contract/people/sign-in.ts'
import { queryClient } from '../../api.ts'
import { createPasskey, deleteOwnPasskey, ownPasskeys } from '../../domain/people/sign-in/passkeys.ts'
import { passkeyObstacle, useSignInWays } from '../../domain/people/sign-in/sign-in-ways.tsx'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import { BinIcon, PlusIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { DateTime } from '../../parts/text/time.tsx'

export function PasskeysSection() {
  const { passkeys } = useSuspenseQuery(ownPasskeys).data
  const { data: ways, isPending } = useSignInWays()
  const obstacle = isPending ? undefined : passkeyObstacle(ways)
  const [adding, add] = useDisclosure(false)
  const [removing, remove] = useDisclosure(false)
  const [selected, setSelected] = useState<Passkey>()
  const confirmRemove = (passkey: Passkey) => {
    setSelected(passkey)
    remove.open()
  }
  return (
    <Section
      title="Passkeys"
      actions={
        obstacle === undefined &&
        passkeys.length < maxPasskeys && (
          <Button size="xs" leftSection={<PlusIcon size={16} />} onClick={add.open}>
            Add passkey
          </Button>
        )
      }
    >
      <Text fz="sm" c="dimmed" mb="sm">
        A passkey signs you in with your fingerprint, your face or the PIN of a device. Add one on each device that you
        use.
      </Text>
      {obstacle !== undefined && (
        <Text fz="sm" mb="sm">
          You cannot add a passkey here. {obstacle}
        </Text>
      )}
      {passkeys.length === 0 ? (
        <Text fz="sm">No passkeys yet</Text>
      ) : (
        <PasskeysTable passkeys={passkeys} onRemove={confirmRemove} />
      )}
      <Modal opened={adding} onClose={add.close} title="Add a passkey">
        <AddPasskeyForm onClose={add.close} />
      </Modal>
      <RemovePasskey passkey={selected} isLast={passkeys.length === 1} opened={removing} onClose={remove.close} />
    </Section>
  )
}

interface PasskeysTableProps {
  readonly passkeys: readonly Passkey[]
  readonly onRemove: (passkey: Passkey) => void
}

const PasskeysTable = ({ passkeys, onRemove }: PasskeysTableProps) => (
  <DataTable
    label="Passkeys"
    rows={passkeys}
    columns={[
      ...columns,
      {
        id: 'actions',
        title: 'Actions',
        isControl: true,
        inCard: 'corner',
        cell: (passkey) => (
          <ActionIcon
            variant="subtle"
            color="gray"
            c="dimmed"
            aria-label={`Remove passkey ${passkey.name}`}
            title="Remove"
            onClick={() => onRemove(passkey)}
          >
            <BinIcon />
          </ActionIcon>
        ),
      },
    ]}
    keyOf={({ id }) => id}
    minWidthPx={480}
  />
)

const columns: readonly Column<Passkey>[] = [
  {
    id: 'name',
    title: 'Name',
    breaksWords: true,
    sortValue: ({ name }) => name.toLowerCase(),
    cell: ({ name }) => name,
  },
  {
    id: 'added',
    title: 'Added',
    sortValue: ({ createdAt }) => Date.parse(createdAt),
    cell: ({ createdAt }) => <DateTime at={createdAt} />,
  },
  {
    id: 'used',
    title: 'Last used',
    sortValue: ({ usedAt }) => (usedAt ? Date.parse(usedAt) : null),
    cell: ({ usedAt }) =>
      usedAt ? (
        <DateTime at={usedAt} />
      ) : (
        <Text span fz="sm" c="dimmed">
          Never
        </Text>
      ),
  },
]

function AddPasskeyForm({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const add = useMutation({
    mutationFn: () => createPasskey(name.trim()),
    onSuccess: async (passkey) => {
      notifications.show({ message: `Passkey ${passkey.name} added`, color: 'green' })
      onClose()
      await queryClient.invalidateQueries(ownPasskeys)
    },
  })
  return (
    <DialogForm
      verb="Add passkey"
      canSubmit
      isBusy={add.isPending}
      error={add.error}
      onSubmit={() => add.mutate()}
      onCancel={onClose}
    >
      <Text fz="sm">Next, your browser asks you to confirm with your fingerprint, your face or a PIN.</Text>
      <TextInput
        label="Name of the passkey"
        description="Optional. For example the device that keeps it."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={100}
        autoComplete="off"
        data-autofocus
      />
    </DialogForm>
  )
}

interface RemovePasskeyProps {
  readonly passkey: Passkey | undefined
  readonly isLast: boolean
  readonly opened: boolean
  readonly onClose: () => void
}

function RemovePasskey({ passkey, isLast, opened, onClose }: RemovePasskeyProps) {
  const remove = useMutation({
    mutationFn: deleteOwnPasskey,
    onSuccess: async () => {
      notifications.show({ message: 'Passkey removed', color: 'green' })
      onClose()
      await queryClient.invalidateQueries(ownPasskeys)
    },
  })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="Remove this passkey?"
      verb="Remove passkey"
      mutation={remove}
      onConfirm={() => passkey && remove.mutate(passkey.id)}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        You can no longer sign in with <b>{passkey?.name}</b>. Also delete it on the device that keeps it.
        {isLast && ' It is your last passkey: next time you need a company account or a link.'}
      </Text>
    </ConfirmDialog>
  )
}

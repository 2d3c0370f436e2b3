// Columns that the tables of API keys share: personal ones, and those of the organisation.
import { ActionIcon, Code, Text } from '@mantine/core'
import { BinIcon } from '../../../parts/page/icons.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DateTime } from '../../../parts/text/time.tsx'
import { type ApiKey, accessText, isKeyExpired } from './api-key.ts'

const timeValue = (at: string | undefined) => (at === undefined ? null : Date.parse(at))

const Never = () => (
  <Text span fz="sm" c="dimmed">
    Never
  </Text>
)

export const keyNameColumn: Column<ApiKey> = {
  id: 'name',
  title: 'Name',
  breaksWords: true,
  sortValue: ({ name }) => name.toLowerCase(),
  cell: ({ name }) => name,
}

export const prefixColumn: Column<ApiKey> = {
  id: 'prefix',
  title: 'Prefix',
  cell: ({ prefix }) => <Code>{prefix}…</Code>,
}

export const accessColumn: Column<ApiKey> = { id: 'access', title: 'Access', sortValue: accessText, cell: accessText }

export const expiresColumn: Column<ApiKey> = {
  id: 'expires',
  title: 'Expires',
  sortValue: ({ expiresAt }) => timeValue(expiresAt),
  cell: (key) =>
    key.expiresAt ? (
      <Text span fz="sm" c={isKeyExpired(key) ? 'var(--rk-offline)' : 'var(--mantine-color-text)'}>
        {isKeyExpired(key) && 'Expired '}
        <DateTime at={key.expiresAt} />
      </Text>
    ) : (
      <Never />
    ),
}

export const lastUsedColumn: Column<ApiKey> = {
  id: 'used',
  title: 'Last used',
  sortValue: ({ lastUsedAt }) => timeValue(lastUsedAt),
  cell: ({ lastUsedAt }) => (lastUsedAt ? <DateTime at={lastUsedAt} /> : <Never />),
}

export const revokeColumn = (onRevoke: (key: ApiKey) => void): Column<ApiKey> => ({
  id: 'actions',
  title: 'Actions',
  isControl: true,
  inCard: 'corner',
  cell: (key) => (
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
  ),
})

// The table that gives people a role and regions by the groups of the provider; the first match counts. [contract 11.oidc]
import { ActionIcon, Button, Card, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { roles } from '../../../../contract/people/permissions.ts'
import { RegionChoiceField } from '../../../domain/fleet/site/region-choice.tsx'
import type { ListedRegion } from '../../../domain/fleet/site/sites.ts'
import { roleNames } from '../../../domain/people/person/roles.ts'
import { BinIcon, DownIcon, PlusIcon, UpIcon } from '../../../parts/page/icons.tsx'
import type { RoleOfGroup } from './identity-draft.ts'

/** Owners are never made by a group. */
const groupRoleData = roles.filter((role) => role !== 'owner').map((value) => ({ value, label: roleNames[value] }))
const maxGroups = 50

interface GroupRolesProps {
  readonly value: readonly RoleOfGroup[]
  readonly regions: readonly ListedRegion[]
  readonly onChange: (value: readonly RoleOfGroup[]) => void
}

export function GroupRoles({ value, regions, onChange }: GroupRolesProps) {
  const replace = (index: number, row: RoleOfGroup) => onChange(value.with(index, row))
  const move = (index: number, by: number) => {
    const [row, other] = [value[index], value[index + by]]
    if (row && other) onChange(value.with(index, other).with(index + by, row))
  }
  return (
    <Stack component="fieldset" gap="xs" p={0} m={0} bd={0}>
      <Text component="legend" fz="sm" fw={600} p={0}>
        Roles by group
      </Text>
      <Text fz="xs" c="dimmed">
        {value.length === 0
          ? 'Without groups, people keep the role and regions that they have under People.'
          : 'Set at every sign-in. The first group that matches counts. A person in none of the groups cannot sign in.'}
      </Text>
      {value.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place, and their text changes
        <GroupRow key={index} row={row} index={index} regions={regions} onChange={(next) => replace(index, next)}>
          <ActionIcon
            variant="subtle"
            color="gray"
            c="dimmed"
            aria-label={`Move group ${index + 1} up`}
            disabled={index === 0}
            onClick={() => move(index, -1)}
          >
            <UpIcon />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            c="dimmed"
            aria-label={`Move group ${index + 1} down`}
            disabled={index === value.length - 1}
            onClick={() => move(index, 1)}
          >
            <DownIcon />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            c="dimmed"
            aria-label={`Remove group ${index + 1}`}
            onClick={() => onChange(value.toSpliced(index, 1))}
          >
            <BinIcon />
          </ActionIcon>
        </GroupRow>
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<PlusIcon size={16} />}
          disabled={value.length >= maxGroups}
          onClick={() => onChange([...value, { group: '', role: 'viewer', allRegions: false, regionIds: [] }])}
        >
          Add group
        </Button>
      </Group>
    </Stack>
  )
}

interface GroupRowProps {
  readonly row: RoleOfGroup
  readonly index: number
  readonly regions: readonly ListedRegion[]
  readonly onChange: (row: RoleOfGroup) => void
  /** The buttons of the row. */
  readonly children: ReactNode
}

const GroupRow = ({ row, index, regions, onChange, children }: GroupRowProps) => (
  <Card padding="sm" role="group" aria-label={`Group ${index + 1}`}>
    <Stack gap="xs">
      <Group gap="xs" align="flex-end">
        <TextInput
          label="Group"
          value={row.group}
          onChange={(event) => onChange({ ...row, group: event.currentTarget.value })}
          maxLength={100}
          flex={1}
          miw={160}
          autoComplete="off"
          spellCheck={false}
        />
        <Select
          label="Role"
          data={groupRoleData}
          value={row.role}
          onChange={(role) => role && onChange({ ...row, role })}
          allowDeselect={false}
          w={130}
        />
        <Group gap={2} wrap="nowrap" pb={4}>
          {children}
        </Group>
      </Group>
      <RegionChoiceField
        value={{ allRegions: row.allRegions ?? false, regionIds: row.regionIds ?? [] }}
        onChange={({ allRegions, regionIds }) => onChange({ ...row, allRegions, regionIds: [...regionIds] })}
        regions={regions}
        emptyText="Without a region, the people of this group see nothing."
      />
    </Stack>
  </Card>
)

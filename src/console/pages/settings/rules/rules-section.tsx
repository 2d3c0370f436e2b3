// Lists the rules that open incidents, and opens the form that changes one. [contract 10.rule]
import { Badge, Button, Modal, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { durationText } from '../../../../contract/duration-text.ts'
import { minuteMs } from '../../../../contract/durations.ts'
import { ruleNames } from '../../../../contract/incidents/rule-names.ts'
import { isSecurityRule } from '../../../../contract/incidents/rule-table.ts'
import { useBody } from '../../../api.ts'
import { severityRank } from '../../../domain/incidents/incident.ts'
import { SeverityLabel } from '../../../domain/incidents/severity-label.tsx'
import { CancelledIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { usePermissions } from '../../../session.ts'
import { type ListedRule, RuleForm } from './rule-form.tsx'

const delayText = (minutes: number) => (minutes === 0 ? 'Immediately' : durationText(minutes * minuteMs))

export function RulesSection() {
  const { rules } = useBody('incidentRulesList')
  const may = usePermissions()
  const [chosen, setChosen] = useState<ListedRule>()
  const [opened, { open, close }] = useDisclosure(false)
  const edit = (rule: ListedRule) => {
    setChosen(rule)
    open()
  }
  const mayEdit = ({ rule }: ListedRule) => may.everywhere && (may.manage || !isSecurityRule(rule))
  const editColumn: Column<ListedRule> = {
    id: 'actions',
    title: 'Actions',
    isControl: true,
    inCard: 'corner',
    cell: (rule) =>
      mayEdit(rule) && (
        <Button size="xs" variant="default" aria-label={`Edit ${ruleNames[rule.rule]}`} onClick={() => edit(rule)}>
          Edit
        </Button>
      ),
  }
  return (
    <Section title="Rules">
      <Text fz="sm" c="dimmed" mb="sm">
        Rules open and resolve incidents automatically.
      </Text>
      <DataTable
        label="Rules"
        rows={rules}
        columns={may.everywhere ? [...columns, editColumn] : columns}
        keyOf={({ rule }) => rule}
        minWidthPx={760}
      />
      <Modal opened={opened} onClose={close} title={chosen && `Edit rule: ${ruleNames[chosen.rule]}`}>
        {chosen && <RuleForm key={chosen.rule} rule={chosen} onClose={close} />}
      </Modal>
    </Section>
  )
}

const columns: readonly Column<ListedRule>[] = [
  {
    id: 'rule',
    title: 'Rule',
    sortValue: ({ rule }) => ruleNames[rule].toLowerCase(),
    cell: ({ rule, changed, opens, ends }) => (
      <>
        {ruleNames[rule]}{' '}
        {changed && (
          <Badge variant="light" tt="none">
            Changed
          </Badge>
        )}
        <Text fz="xs" c="dimmed" fw={400}>
          Opens when {opens}. Ends when {ends}.
        </Text>
      </>
    ),
  },
  {
    id: 'state',
    title: 'State',
    sortValue: ({ enabled }) => (enabled ? 1 : 0),
    cell: ({ enabled }) =>
      enabled ? (
        <StatusLabel tone="calm">On</StatusLabel>
      ) : (
        <StatusLabel tone="quiet" icon={<CancelledIcon size={16} />}>
          Off
        </StatusLabel>
      ),
  },
  {
    id: 'severity',
    title: 'Severity',
    sortValue: ({ severity }) => severityRank(severity),
    cell: ({ severity }) => <SeverityLabel severity={severity} isBadge={false} />,
  },
  {
    id: 'hold',
    title: 'Opens after',
    sortValue: ({ holdMinutes }) => holdMinutes,
    cell: ({ holdMinutes }) => delayText(holdMinutes),
  },
  {
    id: 'clear',
    title: 'Ends after',
    sortValue: ({ clearMinutes }) => clearMinutes,
    cell: ({ clearMinutes }) => delayText(clearMinutes),
  },
]

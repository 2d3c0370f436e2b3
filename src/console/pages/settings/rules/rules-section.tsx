// Lists the rules that open incidents, and opens the form that changes one. [contract 10.rule]
import { Badge, Button, Modal, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { minuteMs } from '../../../../contract/durations.ts'
import { ruleNames } from '../../../../contract/incidents/rule-names.ts'
import { isSecurityRule } from '../../../../contract/incidents/rule-table.ts'
import { useBody } from '../../../api.ts'
import { SeverityLabel } from '../../../domain/incidents/severity-label.tsx'
import { CheckIcon, CrossIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { durationText } from '../../../parts/text/duration.ts'
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
  return (
    <Section title="Rules">
      <Text fz="sm" c="dimmed" mb="sm">
        Rules open and resolve incidents automatically.
      </Text>
      <Table.ScrollContainer minWidth={760} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing="xs" aria-label="Rules">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Rule</Table.Th>
              <Table.Th scope="col">State</Table.Th>
              <Table.Th scope="col">Severity</Table.Th>
              <Table.Th scope="col">Opens after</Table.Th>
              <Table.Th scope="col">Ends after</Table.Th>
              {may.everywhere && <Table.Td />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rules.map((rule) => (
              <Table.Tr key={rule.rule}>
                <Table.Th scope="row" fw={550}>
                  {ruleNames[rule.rule]}{' '}
                  {rule.changed && (
                    <Badge variant="light" tt="none">
                      Changed
                    </Badge>
                  )}
                  <Text fz="xs" c="dimmed" fw={400}>
                    Opens when {rule.opens}. Ends when {rule.ends}.
                  </Text>
                </Table.Th>
                <Table.Td>
                  {rule.enabled ? (
                    <StatusLabel colour="var(--rk-healthy)" icon={<CheckIcon size={16} />}>
                      On
                    </StatusLabel>
                  ) : (
                    <StatusLabel colour="var(--rk-empty)" icon={<CrossIcon size={16} />}>
                      Off
                    </StatusLabel>
                  )}
                </Table.Td>
                <Table.Td>
                  <SeverityLabel severity={rule.severity} />
                </Table.Td>
                <Table.Td>{delayText(rule.holdMinutes)}</Table.Td>
                <Table.Td>{delayText(rule.clearMinutes)}</Table.Td>
                {may.everywhere && (
                  <Table.Td ta="right">
                    {mayEdit(rule) && (
                      <Button
                        size="xs"
                        variant="default"
                        aria-label={`Edit ${ruleNames[rule.rule]}`}
                        onClick={() => edit(rule)}
                      >
                        Edit
                      </Button>
                    )}
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Modal opened={opened} onClose={close} title={chosen && `Edit rule: ${ruleNames[chosen.rule]}`}>
        {chosen && <RuleForm key={chosen.rule} rule={chosen} onClose={close} />}
      </Modal>
    </Section>
  )
}

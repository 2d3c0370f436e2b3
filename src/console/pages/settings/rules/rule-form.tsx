// Changes a rule: whether it is on, its severity, its times and the numbers of its condition. [contract 10.rule]

import { Button, Group, NumberInput, Select, Switch, Text } from '@mantine/core'
import { useState } from 'react'
import { maxRuleMinutes } from '../../../../contract/incidents/limits.ts'
import { type LimitName, limitRanges, type Severity } from '../../../../contract/incidents/rule-table.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { useWrite } from '../../../api.ts'
import { severityChoices } from '../../../domain/incidents/severity-label.tsx'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'

export type ListedRule = ResponseOf<Operations['incidentRulesList']>['rules'][number]

interface RuleFormProps {
  readonly rule: ListedRule
  readonly onClose: () => void
}

/** The field of a number is a text while it is empty or half typed. */
type FieldValue = number | string

const limitNames: Readonly<Record<LimitName, string>> = {
  sleepsAtMostHours: 'Sleeps at most (hours)',
  disconnects: 'Disconnects',
  withinMinutes: 'Within (minutes)',
  marginPercent: 'Margin (%)',
  withinDays: 'Sent data within (days)',
  connectedMinutes: 'Was connected for (minutes)',
  rememberedDays: 'Was connected within (days)',
  opensBelowPercent: 'Opens below (% free)',
  endsAtPercent: 'Ends at (% free)',
  attempts: 'Attempts',
  takeOvers: 'Take-overs (count)',
  addresses: 'Different addresses (at least)',
  days: 'Warn when fewer than (days left)',
  criticalDays: 'Critical under (days left)',
}
const defaults = { enabled: null, severity: null, holdMinutes: null, clearMinutes: null, limits: null }

export function RuleForm({ rule, onClose }: RuleFormProps) {
  const [enabled, setEnabled] = useState(rule.enabled)
  const [severity, setSeverity] = useState<Severity>(rule.severity)
  const [hold, setHold] = useState<FieldValue>(rule.holdMinutes)
  const [clear, setClear] = useState<FieldValue>(rule.clearMinutes)
  const [limits, setLimits] = useState<Readonly<Record<string, FieldValue>>>(rule.limits)
  const update = useWrite('incidentRulesUpdate', { quiet: true, successText: 'Rule saved', onDone: onClose })
  const isComplete = [hold, clear, ...Object.values(limits)].every((value) => typeof value === 'number')
  const hasChangedLimits = Object.entries(limits).some(([name, value]) => value !== rule.limits[name])
  const submit = () => {
    const numbers = Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, Number(value)]))
    // Only changes are sent, so that the form does not undo what another person has changed in the meantime.
    const body = {
      ...(enabled !== rule.enabled && { enabled }),
      ...(severity !== rule.severity && { severity }),
      ...(hold !== rule.holdMinutes && { holdMinutes: Number(hold) }),
      ...(clear !== rule.clearMinutes && { clearMinutes: Number(clear) }),
      ...(hasChangedLimits && { limits: numbers }),
    }
    update.mutate({ input: { rule: rule.rule, body } })
  }
  return (
    <DialogForm
      verb="Save"
      canSubmit={isComplete}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={submit}
      onCancel={onClose}
    >
      <Text fz="sm" c="dimmed">
        Opens when {rule.opens}. Ends when {rule.ends}.
      </Text>
      <Switch
        label="Enabled"
        description="Off also ends the open incidents of this rule."
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
        data-autofocus
      />
      <Select
        label="Severity"
        data={severityChoices}
        value={severity}
        onChange={(value) => value && setSeverity(value)}
        allowDeselect={false}
      />
      <Group grow align="flex-start">
        <NumberInput
          label="Opens after (minutes)"
          value={hold}
          onChange={setHold}
          min={0}
          max={maxRuleMinutes}
          allowDecimal={false}
          hideControls
        />
        <NumberInput
          label="Ends after (minutes)"
          value={clear}
          onChange={setClear}
          min={0}
          max={maxRuleMinutes}
          allowDecimal={false}
          hideControls
        />
      </Group>
      {(Object.entries(limits) as [LimitName, FieldValue][]).map(([name, value]) => (
        <NumberInput
          key={name}
          label={limitNames[name]}
          value={value}
          onChange={(next) => setLimits((before) => ({ ...before, [name]: next }))}
          min={limitRanges[name].min}
          max={limitRanges[name].max}
          allowDecimal={false}
          hideControls
        />
      ))}
      {rule.changed && (
        <Group>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => update.mutate({ input: { rule: rule.rule, body: defaults } })}
          >
            Restore defaults
          </Button>
        </Group>
      )}
    </DialogForm>
  )
}

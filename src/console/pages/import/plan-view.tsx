// Shows how each row would change the organisation, before anything is changed.
import { Button, Card, Checkbox, Group, Text } from '@mantine/core'
import { useState } from 'react'
import type { ImportedRow } from '../../../csv/run-import.ts'
import { Section } from '../../parts/page/page.tsx'
import { plural } from '../../parts/text/words.ts'
import { DropZone } from './choose-file.tsx'
import type { PlannedFile } from './phase.ts'
import { ResultCounts, RowTable } from './row-table.tsx'

interface PlanViewProps {
  readonly file: PlannedFile
  readonly onFile: (file: File) => void
  readonly onApply: () => void
  readonly onSaveRows: (rows: readonly ImportedRow[]) => void
}

export function PlanView({ file, onFile, onApply, onSaveRows }: PlanViewProps) {
  const { plan, rows, counts } = file.planned.plan
  const shown = rows.map(({ fate, ...row }) => ({ ...row, result: fate, answers: [] }))
  const [allowRollout, setAllowRollout] = useState(false)
  const deviceCount = plan.steps.reduce(
    (sum, step) => sum + (step.needs === 'rollout' ? (step.endpointCount ?? 0) : 0),
    0,
  )
  const forbidden = new Set(plan.steps.flatMap((step) => step.forbidden ?? []))
  const canApply = plan.steps.length > 0 && forbidden.size === 0 && (deviceCount === 0 || allowRollout)
  return (
    <>
      <Section title={`Plan for ${file.name}`}>
        <ResultCounts counts={counts} />
        <Group justify="space-between" mt="md" gap="md">
          <Text role="status">{summaryOf(file.planned)}</Text>
          {plan.steps.length > 0 && (
            <Button disabled={!canApply} onClick={() => onApply()}>
              Apply {plural(plan.steps.length, 'change')}
            </Button>
          )}
        </Group>
        {deviceCount > 0 && (
          <Checkbox
            mt="sm"
            checked={allowRollout}
            onChange={(event) => setAllowRollout(event.currentTarget.checked)}
            label={`Change the settings of ${plural(deviceCount, 'device')} too: their rooms get another profile.`}
          />
        )}
        {[...forbidden].map((reason) => (
          <Text key={reason} role="alert" mt="sm" c="var(--rk-offline)">
            {reason}
          </Text>
        ))}
      </Section>
      <RowTable label="Rows of the file" rows={shown} onSave={() => onSaveRows(shown)} />
      <Card bg="var(--rk-panel)">
        <DropZone label="Choose another file" onFile={onFile}>
          <Text>
            {counts.wrong > 0
              ? 'Correct the rows in the file, save it, and drop it here again.'
              : 'To change the plan, change the file and drop it here again.'}
          </Text>
        </DropZone>
      </Card>
    </>
  )
}

function summaryOf({ plan: { plan, counts } }: PlannedFile['planned']): string {
  if (counts.wrong > 0) {
    return `${plural(counts.wrong, 'row')} ${counts.wrong === 1 ? 'is' : 'are'} wrong. Nothing is applied until the whole file is right.`
  }
  return plan.steps.length === 0
    ? 'Everything is as the file says. There is nothing to do.'
    : 'Nothing has been changed yet.'
}

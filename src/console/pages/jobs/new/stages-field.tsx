// The editor of the stages of a job. The last stage always has all rooms.
import { ActionIcon, Button, Checkbox, Group, NumberInput, Select, Stack, TagsInput, Text } from '@mantine/core'
import { maxStages } from '../../../../contract/jobs/job-request.ts'
import { BinIcon, PlusIcon } from '../../../parts/page/icons.tsx'
import classes from './new-job.module.css'
import { useKnownTags } from './target-choices.ts'
import type { StageInput, StepProps } from './wizard-state.ts'

const kinds = [
  { value: 'rooms', label: 'Rooms' },
  { value: 'percent', label: 'Percent' },
  { value: 'tags', label: 'Tags' },
] as const

export function StagesField({ state: { stages, isLastManual }, onChange }: StepProps) {
  const replace = (index: number, changes: Partial<StageInput>) =>
    onChange({ stages: stages.map((stage, i) => (i === index ? { ...stage, ...changes } : stage)) })
  const add = () => onChange({ stages: [...stages, { kind: 'percent', amount: 50, tags: [], manual: false }] })
  return (
    <Stack gap="sm" w="100%">
      <Text fz="sm" c="dimmed">
        Numbers are cumulative. Rooms tagged canary come first, then the least used.
      </Text>
      <ol className={classes.stages} aria-label="Stages">
        {stages.map((stage, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the number is what identifies a stage
          <li key={index}>
            <StageFields
              stage={stage}
              number={index + 1}
              onChange={(changes) => replace(index, changes)}
              onRemove={() => onChange({ stages: stages.filter((_, i) => i !== index) })}
            />
          </li>
        ))}
        <li>
          <Group gap="sm">
            <Text fz="sm" fw={500}>
              Stage {stages.length + 1}: all rooms
            </Text>
            {stages.length > 0 && (
              <Checkbox
                label="Wait for approval"
                aria-label={`Wait for approval before stage ${stages.length + 1}`}
                checked={isLastManual}
                onChange={(event) => onChange({ isLastManual: event.currentTarget.checked })}
              />
            )}
          </Group>
        </li>
      </ol>
      {stages.length < maxStages - 1 && (
        <div>
          <Button variant="default" size="xs" leftSection={<PlusIcon size={16} />} onClick={add}>
            Add stage
          </Button>
        </div>
      )}
    </Stack>
  )
}

interface StageFieldsProps {
  readonly stage: StageInput
  readonly number: number
  readonly onChange: (changes: Partial<StageInput>) => void
  readonly onRemove: () => void
}

function StageFields({ stage: { kind, amount, tags, manual }, number, onChange, onRemove }: StageFieldsProps) {
  const knownTags = useKnownTags()
  return (
    <Group gap="sm" align="center">
      <Text fz="sm" fw={500} w={64}>
        Stage {number}
      </Text>
      <Select
        aria-label={`Stage ${number} counts`}
        data={kinds}
        value={kind}
        onChange={(value) => value && onChange({ kind: value as StageInput['kind'] })}
        allowDeselect={false}
        w={110}
      />
      {kind === 'tags' ? (
        <TagsInput
          aria-label={`Tags of stage ${number}`}
          data={knownTags}
          value={[...tags]}
          onChange={(value) => onChange({ tags: value })}
          w={200}
        />
      ) : (
        <NumberInput
          aria-label={kind === 'rooms' ? `Rooms of stage ${number}` : `Percent of stage ${number}`}
          min={kind === 'rooms' ? 1 : 0}
          {...(kind === 'percent' && { max: 100, suffix: ' %' })}
          allowDecimal={kind === 'percent'}
          value={Number.isNaN(amount) ? '' : amount}
          onChange={(value) => onChange({ amount: value === '' ? Number.NaN : Number(value) })}
          w={110}
        />
      )}
      {number > 1 && (
        <Checkbox
          label="Wait for approval"
          aria-label={`Wait for approval before stage ${number}`}
          checked={manual}
          onChange={(event) => onChange({ manual: event.currentTarget.checked })}
        />
      )}
      <ActionIcon variant="subtle" aria-label={`Remove stage ${number}`} onClick={onRemove}>
        <BinIcon size={16} />
      </ActionIcon>
    </Group>
  )
}

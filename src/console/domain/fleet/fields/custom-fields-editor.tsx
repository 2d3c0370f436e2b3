// Edits the custom fields of a room or a device: a line for each, with the names that other rows have as suggestions.
import { ActionIcon, Autocomplete, Button, Fieldset, Group, Stack, Text, TextInput } from '@mantine/core'
import { maxCustomFields } from '../../../../contract/fleet/custom-fields.ts'
import { CrossIcon, PlusIcon } from '../../../parts/page/icons.tsx'
import { type FieldLine, lineProblem } from './custom-fields.ts'

interface CustomFieldsEditorProps {
  readonly lines: readonly FieldLine[]
  readonly knownNames: readonly string[]
  readonly onChange: (lines: readonly FieldLine[]) => void
}

export function CustomFieldsEditor({ lines, knownNames, onChange }: CustomFieldsEditorProps) {
  const set = (key: number, changed: Partial<FieldLine>) =>
    onChange(lines.map((line) => (line.key === key ? { ...line, ...changed } : line)))
  const add = () => onChange([...lines, { key: Math.max(0, ...lines.map(({ key }) => key)) + 1, name: '', text: '' }])
  const unused = knownNames.filter((name) => !lines.some((line) => line.name === name))
  return (
    <Fieldset legend="Custom fields" p="sm">
      <Stack gap="xs">
        {lines.length === 0 && (
          <Text fz="sm" c="dimmed">
            Values with names of your own. Lists are filtered by them.
          </Text>
        )}
        {lines.map((line, index) => {
          const problem = lineProblem(line, lines)
          return (
            <Stack key={line.key} gap={2}>
              <Group gap="xs" wrap="nowrap">
                <Autocomplete
                  aria-label={`Name of field ${index + 1}`}
                  placeholder="Name"
                  value={line.name}
                  onChange={(name) => set(line.key, { name: name.toLowerCase() })}
                  data={[...unused]}
                  error={problem !== undefined}
                  style={{ flex: 1 }}
                />
                <TextInput
                  aria-label={`Text of field ${index + 1}`}
                  placeholder="Text"
                  value={line.text}
                  onChange={(event) => set(line.key, { text: event.currentTarget.value })}
                  error={problem !== undefined}
                  style={{ flex: 1.5 }}
                />
                <ActionIcon
                  variant="subtle"
                  aria-label={`Remove field ${line.name || index + 1}`}
                  onClick={() => onChange(lines.filter(({ key }) => key !== line.key))}
                >
                  <CrossIcon size={14} />
                </ActionIcon>
              </Group>
              {problem !== undefined && (
                <Text fz="xs" c="var(--rk-offline)" role="alert">
                  {problem}
                </Text>
              )}
            </Stack>
          )
        })}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<PlusIcon size={14} />}
            onClick={add}
            disabled={lines.length >= maxCustomFields}
          >
            Add field
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  )
}

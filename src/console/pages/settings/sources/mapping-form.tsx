// The form of a mapping: a path for each value, the latest message beside it, and what the mapping reads from it. [contract 15.sources]
import { Box, Modal, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Sensor } from '../../../../contract/device/models.ts'
import { sensorLabels, sensorValueText } from '../../../../contract/device/sensor-texts.ts'
import {
  type MappedValue,
  mappedValues,
  type SensorMapping,
  type Source,
  type SourceDevice,
} from '../../../../contract/fleet/sources.ts'
import { oneLine } from '../../../../contract/words.ts'
import { type MappedMessage, previewMapping } from '../../../../sensor-mapping/mapping.ts'
import { unitNamesOf } from '../../../../sensor-mapping/units.ts'
import { operationQuery, useBody, useWrite } from '../../../api.ts'
import { useBaseline } from '../../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { LoadingBoundary } from '../../../parts/page/page.tsx'
import { sourceDeviceName } from './device-rows.ts'
import { isMappingComplete, type MappingDraft, mappingOf } from './mapping-draft.ts'
import classes from './sources.module.css'

interface MappingDialogProps {
  readonly source: Source
  readonly initial: MappingDraft
  /** The place of the mapping in the list; undefined for a new one. */
  readonly index: number | undefined
  readonly onClose: () => void
}

export const MappingDialog = (props: MappingDialogProps) => (
  <Modal
    opened
    onClose={props.onClose}
    title={props.index === undefined ? 'Add a mapping' : `Mapping of ${oneLine(props.initial.model)}`}
    size={1080}
    closeOnClickOutside={false}
  >
    <LoadingBoundary>
      <MappingForm {...props} />
    </LoadingBoundary>
  </Modal>
)

const formats = [
  { value: 'things-stack', label: 'The Things Stack v3' },
  { value: 'chirpstack', label: 'ChirpStack v4' },
  { value: 'json', label: 'Other JSON' },
] as const

const below: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error']
const plainText = { autoComplete: 'off', autoCapitalize: 'off', spellCheck: false } as const

function MappingForm({ source, initial, index, onClose }: MappingDialogProps) {
  const { seen, reload } = useBaseline('sourcesGet', { id: source.id })
  const [draft, setDraft] = useState(initial)
  const [message, setMessage] = useState({ topic: initial.topic, payload: '' })
  const update = useWrite('sourcesUpdate', {
    quiet: true,
    successText: 'Saved. The gateway reads the messages with it now.',
    onDone: onClose,
  })
  const mapping = mappingOf(draft)
  const preview = useMemo(
    () => (message.payload === '' ? undefined : previewMapping(mapping, message)),
    [mapping, message],
  )
  const set = (changes: Partial<MappingDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const save = () => {
    const stored = seen.body.mappings ?? []
    const mappings = index === undefined ? [...stored, mapping] : stored.with(index, mapping)
    update.mutate({ input: { id: source.id, body: { mappings } }, ifMatch: seen.etag })
  }
  return (
    <DialogForm
      verb="Save"
      canSubmit={isMappingComplete(draft)}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={save}
      onCancel={onClose}
      onReload={() => reload(update.reset)}
    >
      <div className={classes.mapping}>
        <Stack gap="sm">
          <ModelFields draft={draft} set={set} />
          <ValueFields draft={draft} set={set} preview={preview} />
        </Stack>
        <MessageFields
          source={source}
          format={draft.format}
          message={message}
          onChange={setMessage}
          preview={preview}
        />
      </div>
    </DialogForm>
  )
}

interface DraftProps {
  readonly draft: MappingDraft
  readonly set: (changes: Partial<MappingDraft>) => void
}

const ModelFields = ({ draft, set }: DraftProps) => (
  <>
    <div className={classes.pair}>
      <Select
        label="Messages"
        data={[...formats]}
        value={draft.format}
        onChange={(format) => format && set({ format: format as SensorMapping['format'] })}
        allowDeselect={false}
      />
      <TextInput
        {...plainText}
        label="Model"
        value={draft.model}
        onChange={(event) => set({ model: event.currentTarget.value })}
        maxLength={64}
        withAsterisk
      />
    </div>
    <TextInput
      {...plainText}
      label="Devices"
      description="A part of the name of their device profile, or of their identifier. Empty: all without another mapping."
      inputWrapperOrder={below}
      value={draft.match}
      onChange={(event) => set({ match: event.currentTarget.value })}
      maxLength={128}
    />
    {draft.format === 'json' && (
      <div className={classes.pair}>
        <TextInput
          {...plainText}
          label="Topic"
          placeholder="building/+/air"
          description="An MQTT topic filter."
          inputWrapperOrder={below}
          value={draft.topic}
          onChange={(event) => set({ topic: event.currentTarget.value })}
          maxLength={255}
          withAsterisk
        />
        <TextInput
          {...plainText}
          label="Identifier of the device"
          placeholder="topic[1]"
          description="A path, or a level of the topic. Empty: the whole topic."
          inputWrapperOrder={below}
          value={draft.device}
          onChange={(event) => set({ device: event.currentTarget.value })}
          maxLength={128}
        />
      </div>
    )}
  </>
)

const valueName = (value: MappedValue): string => (value === 'presence' ? 'Presence' : sensorLabels[value].name)

interface ValueFieldsProps extends DraftProps {
  readonly preview: MappedMessage | undefined
}

function ValueFields({ draft, set, preview }: ValueFieldsProps) {
  return (
    <fieldset className={classes.values}>
      <legend>Values</legend>
      <Text fz="xs" c="dimmed" mb={4}>
        Paths such as value_json.co2, or value_json["temperature"] | float. Empty: the messages do not have it.
      </Text>
      {mappedValues.map((value) => {
        const { template, unit } = draft.values[value]
        const units = unitNamesOf(value)
        const change = (changes: { template?: string; unit?: string }) =>
          set({ values: { ...draft.values, [value]: { ...draft.values[value], ...changes } } })
        return (
          <div key={value} className={classes.valueRow}>
            <TextInput
              {...plainText}
              size="xs"
              label={valueName(value)}
              value={template}
              onChange={(event) => change({ template: event.currentTarget.value })}
              maxLength={128}
            />
            {units.length > 1 ? (
              <Select
                size="xs"
                label="Unit"
                aria-label={`Unit of ${valueName(value)}`}
                data={[...units]}
                value={unit === '' ? (units[0] ?? null) : unit}
                onChange={(next) => change({ unit: next === null || next === units[0] ? '' : next })}
                allowDeselect={false}
              />
            ) : (
              <span />
            )}
            <Text fz="sm" role="status" aria-label={`Result of ${valueName(value)}`} className={classes.result ?? ''}>
              {template.trim() !== '' && <PreviewedValue value={value} preview={preview} />}
            </Text>
          </div>
        )
      })}
    </fieldset>
  )
}

function PreviewedValue({
  value,
  preview,
}: {
  readonly value: MappedValue
  readonly preview: MappedMessage | undefined
}) {
  const read = preview?.values.find(({ sensor }) => sensor === value)
  if (!read) return null
  if (read.problem !== undefined) return <span style={{ color: 'var(--rk-offline)' }}>{oneLine(read.problem)}</span>
  if (read.value === undefined) return <span style={{ color: 'var(--rk-degraded)' }}>Not in the message</span>
  return value === 'presence' ? (read.value > 0 ? 'In use' : 'Empty') : sensorValueText(value as Sensor, read.value)
}

interface MessageFieldsProps {
  readonly source: Source
  readonly format: SensorMapping['format']
  readonly message: { readonly topic: string; readonly payload: string }
  readonly onChange: (message: { topic: string; payload: string }) => void
  readonly preview: MappedMessage | undefined
}

/** The latest message of a device, or one that the person has pasted. */
function MessageFields({ source, format, message, onChange, preview }: MessageFieldsProps) {
  const { devices } = useBody('sourceDevicesList', { id: source.id })
  const choices = useMemo(
    () => devices.filter((device) => device.format === format).slice(0, maxChoices),
    [devices, format],
  )
  const [key, setKey] = useState<string | null>(null)
  const chosen = key ?? choices[0]?.key ?? null
  const input = { id: source.id, key: chosen ?? '' }
  const { data } = useQuery({ ...operationQuery('sourceDevicesList', input), enabled: chosen !== null })
  const [shownOf, setShownOf] = useState<SourceDevice>()
  const device = data?.body.devices[0]
  // A new message of another device replaces the text; one that the person edits stays.
  if (device && device.key !== shownOf?.key) {
    setShownOf(device)
    if (device.lastMessage !== undefined)
      onChange({ topic: device.topic ?? '', payload: formattedJson(device.lastMessage) })
  }
  return (
    <Stack gap="sm">
      {choices.length > 0 && (
        <Select
          label="Latest message of"
          data={choices.map((choice) => ({ value: choice.key, label: sourceDeviceName(choice) }))}
          value={chosen}
          onChange={setKey}
          allowDeselect={false}
          searchable={choices.length > 8}
        />
      )}
      <TextInput
        {...plainText}
        label="Topic of the message"
        value={message.topic}
        onChange={(event) => onChange({ ...message, topic: event.currentTarget.value })}
      />
      <Textarea
        {...plainText}
        label="Message"
        description="You can paste another one. It is not stored."
        inputWrapperOrder={below}
        value={message.payload}
        onChange={(event) => onChange({ ...message, payload: event.currentTarget.value })}
        autosize
        minRows={8}
        maxRows={20}
        styles={{
          input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 'var(--mantine-font-size-xs)' },
        }}
      />
      {preview && (
        <Box role="status" aria-label="Result of the mapping">
          {preview.device !== undefined && <Text fz="sm">Device: {oneLine(preview.device)}</Text>}
          {preview.problems.map((problem) => (
            <Text key={problem} fz="sm" c="var(--rk-offline)">
              {oneLine(problem)}
            </Text>
          ))}
        </Box>
      )}
    </Stack>
  )
}

const maxChoices = 200

/** A message that was cut is not JSON, and stays as it is. */
function formattedJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

// The mappings of a broker: how messages of LoRaWAN servers and other JSON are read, one for each model. [contract 15.sources]
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { sensorLabels } from '../../../../contract/device/sensor-texts.ts'
import { maxMappings, type SensorMapping, type Source } from '../../../../contract/fleet/sources.ts'
import { useBody, useResponse, useWrite } from '../../../api.ts'
import { ConfirmDialog } from '../../../parts/dialog/confirm-dialog.tsx'
import { EmptyState } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { Notice } from '../../../parts/text/notice.tsx'
import { plural } from '../../../parts/text/words.ts'
import { type MappingDraft, mappingDraftOf, newMappingDraft, unmappedModels } from './mapping-draft.ts'
import { MappingDialog } from './mapping-form.tsx'

const formatNames: Readonly<Record<SensorMapping['format'], string>> = {
  'things-stack': 'The Things Stack v3',
  chirpstack: 'ChirpStack v4',
  json: 'JSON',
}

interface MappingRow {
  readonly index: number
  readonly mapping: SensorMapping
  readonly count: number
}

export function MappingsTab({ source }: { readonly source: Source }) {
  const { devices } = useBody('sourceDevicesList', { id: source.id })
  const [form, setForm] = useState<{ readonly initial: MappingDraft; readonly index: number | undefined }>()
  const [deleted, setDeleted] = useState<MappingRow>()
  const { mappings = [] } = source
  const unmapped = unmappedModels(devices)
  const rows = mappings.map((mapping, index) => ({
    index,
    mapping,
    count: devices.filter((device) => device.mapping === mapping.model).length,
  }))
  const isFull = mappings.length >= maxMappings
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <Text fz="sm" c="dimmed" flex={1} miw={220}>
          Sensors with Home Assistant’s discovery, Tasmota, Shelly and AirGradient need no mapping. LoRaWAN servers and
          other JSON do.
        </Text>
        <Button
          size="xs"
          disabled={isFull}
          onClick={() => setForm({ initial: newMappingDraft('things-stack'), index: undefined })}
        >
          Add a mapping
        </Button>
      </Group>
      {unmapped.length > 0 && (
        <Notice tone="quiet" role="status" title="Models without a mapping">
          <Group gap="xs">
            {unmapped.slice(0, maxUnmapped).map(({ format, model, topic, count }) => (
              <Button
                key={`${format} ${model}`}
                size="compact-sm"
                variant="default"
                disabled={isFull}
                onClick={() =>
                  setForm({
                    initial: newMappingDraft(format, { model, ...(topic !== undefined && { topic }) }),
                    index: undefined,
                  })
                }
              >
                {model} ({plural(count, 'sensor')})
              </Button>
            ))}
          </Group>
        </Notice>
      )}
      {rows.length === 0 ? (
        <EmptyState title="No mappings yet" />
      ) : (
        <DataTable
          label="Mappings"
          rows={rows}
          columns={columnsOf({
            edit: ({ mapping, index }) => setForm({ initial: mappingDraftOf(mapping), index }),
            remove: setDeleted,
          })}
          keyOf={({ index }) => index}
          minWidthPx={640}
        />
      )}
      {form && <MappingDialog source={source} {...form} onClose={() => setForm(undefined)} />}
      {deleted && <DeleteMapping source={source} row={deleted} onClose={() => setDeleted(undefined)} />}
    </Stack>
  )
}

const maxUnmapped = 12

interface RowTasks {
  readonly edit: (row: MappingRow) => void
  readonly remove: (row: MappingRow) => void
}

const valuesOf = ({ values }: SensorMapping): string =>
  values.map(({ sensor }) => (sensor === 'presence' ? 'Presence' : sensorLabels[sensor].name)).join(', ')

const columnsOf = ({ edit, remove }: RowTasks): readonly Column<MappingRow>[] => [
  {
    id: 'model',
    title: 'Model',
    breaksWords: true,
    sortValue: ({ mapping }) => mapping.model.toLowerCase(),
    cell: ({ mapping }) => mapping.model,
  },
  { id: 'format', title: 'Messages', cell: ({ mapping }) => formatNames[mapping.format] },
  {
    id: 'devices',
    title: 'Devices',
    breaksWords: true,
    cell: ({ mapping, count }) => (
      <>
        {plural(count, 'sensor')}
        <Text fz="xs" c="dimmed" fw={400}>
          {[mapping.match, mapping.topic].filter(Boolean).join(', ')}
        </Text>
      </>
    ),
  },
  { id: 'values', title: 'Values', breaksWords: true, cell: ({ mapping }) => valuesOf(mapping) },
  {
    id: 'actions',
    title: 'Actions',
    isControl: true,
    inCard: 'corner',
    cell: (row) => (
      <Group gap={4} wrap="nowrap" justify="flex-end">
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Edit the mapping of ${row.mapping.model}`}
          onClick={() => edit(row)}
        >
          Edit
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          c="var(--rk-offline)"
          aria-label={`Delete the mapping of ${row.mapping.model}`}
          onClick={() => remove(row)}
        >
          Delete
        </Button>
      </Group>
    ),
  },
]

interface DeleteMappingProps {
  readonly source: Source
  readonly row: MappingRow
  readonly onClose: () => void
}

function DeleteMapping({ source, row: { mapping, index, count }, onClose }: DeleteMappingProps) {
  const { etag } = useResponse('sourcesGet', { id: source.id })
  const update = useWrite('sourcesUpdate', {
    quiet: true,
    successText: `Mapping of ${mapping.model} deleted`,
    onDone: onClose,
  })
  const mappings = (source.mappings ?? []).toSpliced(index, 1)
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`Delete the mapping of ${mapping.model}?`}
      verb="Delete mapping"
      mutation={update}
      onConfirm={() => update.mutate({ input: { id: source.id, body: { mappings } }, ifMatch: etag })}
    >
      <Text fz="sm">
        {count > 0
          ? `${plural(count, 'sensor')} then ${count === 1 ? 'has' : 'have'} no values until another mapping reads ${count === 1 ? 'its' : 'their'} messages.`
          : 'No sensor uses it.'}
      </Text>
    </ConfirmDialog>
  )
}

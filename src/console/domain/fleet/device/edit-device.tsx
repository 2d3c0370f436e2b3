// Changes in a dialog what people say about a device: its name, its note, whether it sleeps, its inventory values and its custom fields.
import { Modal, Select, SimpleGrid, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { maxAssetTagLength, maxEndpointNoteLength } from '../../../../contract/fleet/endpoints.ts'
import type { BodyOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { maxNameLength } from '../../../../contract/shape.ts'
import { operationQuery, useWrite } from '../../../api.ts'
import { useBaseline } from '../../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { LoadingBoundary } from '../../../parts/page/page.tsx'
import { areLinesValid, customFieldNames, fieldChanges, fieldLines } from '../fields/custom-fields.ts'
import { CustomFieldsEditor } from '../fields/custom-fields-editor.tsx'
import { ExternalIdField, textOrNull } from '../fields/text-fields.tsx'
import { type DeviceDetails, deviceName } from './device.ts'

interface EditDeviceProps {
  readonly device: DeviceDetails
  readonly opened: boolean
  readonly onClose: () => void
}

export const EditDevice = ({ device, opened, onClose }: EditDeviceProps) => (
  <Modal opened={opened} onClose={onClose} title={`Edit ${deviceName(device)}`}>
    <LoadingBoundary>
      <DeviceFields id={device.id} onClose={onClose} />
    </LoadingBoundary>
  </Modal>
)

/** The texts of the form; an empty one is not set. */
type Texts = Readonly<Record<(typeof textNames)[number], string>>
const textNames = ['name', 'note', 'assetTag', 'installedOn', 'warrantyUntil', 'externalId'] as const

const sleepsChoices = [
  { value: 'reported', label: 'As the device reports' },
  { value: 'yes', label: 'Yes' },
  { value: 'no', label: 'No' },
] as const
type SleepsChoice = (typeof sleepsChoices)[number]['value']
const givenSleeps: Readonly<Record<SleepsChoice, boolean | null>> = { reported: null, yes: true, no: false }

interface Values extends Texts {
  readonly sleeps: SleepsChoice
}

/** A name or a sleep that the device reports itself is not filled in: it goes on changing with the device. */
const valuesOf = ({ name, reportedName, sleeps, reportedSleeps, ...device }: DeviceDetails): Values => ({
  name: name === undefined || name === reportedName ? '' : name,
  note: device.note ?? '',
  assetTag: device.assetTag ?? '',
  installedOn: device.installedOn ?? '',
  warrantyUntil: device.warrantyUntil ?? '',
  externalId: device.externalId ?? '',
  sleeps: sleeps === reportedSleeps ? 'reported' : sleeps ? 'yes' : 'no',
})

/** The texts that differ. An empty text clears what is stored. */
const changedTexts = (before: Texts, after: Texts): Partial<Record<keyof Texts, string | null>> =>
  Object.fromEntries(
    textNames.filter((name) => after[name] !== before[name]).map((name) => [name, textOrNull(after[name])]),
  )

function DeviceFields({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { now, seen, reload } = useBaseline('endpointsGet', { id })
  const write = useWrite('endpointsUpdate', { quiet: true, successText: 'Device saved', onDone: onClose })
  const before = valuesOf(seen.body)
  // The ETag also changes when the device is moved. While the edited fields are unchanged, the new ETag is used.
  const isSame = JSON.stringify([before, seen.body.fields]) === JSON.stringify([valuesOf(now.body), now.body.fields])
  return (
    <DeviceForm
      key={seen.etag}
      before={before}
      device={seen.body}
      isBusy={write.isPending}
      error={write.error}
      onSubmit={(body) => write.mutate({ input: { id, body }, ifMatch: isSame ? now.etag : seen.etag })}
      onCancel={onClose}
      onReload={() => reload(write.reset)}
    />
  )
}

type InputBody = BodyOf<Operations['endpointsUpdate']>

interface DeviceFormProps {
  readonly before: Values
  readonly device: DeviceDetails
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (changes: InputBody) => void
  readonly onCancel: () => void
  readonly onReload: () => void
}

function DeviceForm({ before, device, onSubmit, ...form }: DeviceFormProps) {
  const [edited, setEdited] = useState(before)
  const [lines, setLines] = useState(() => fieldLines(device.fields))
  const devices = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints
  const knownNames = useMemo(() => customFieldNames(devices ?? []), [devices])
  const set = (changed: Partial<Values>) => setEdited((values) => ({ ...values, ...changed }))
  const texts = Object.fromEntries(textNames.map((name) => [name, edited[name].trim()])) as Texts
  const fields = fieldChanges(device.fields, lines)
  const changes: InputBody = {
    ...changedTexts(before, texts),
    ...(edited.sleeps !== before.sleeps && { sleeps: givenSleeps[edited.sleeps] }),
    ...(fields && { fields }),
  }
  const unnamed = deviceName({ ...device, name: device.reportedName })
  return (
    <DialogForm
      verb="Save"
      canSubmit={Object.keys(changes).length > 0 && areLinesValid(lines)}
      onSubmit={() => onSubmit(changes)}
      {...form}
    >
      <TextInput
        label="Name"
        description={`Without a name, the device is shown as ${unnamed}.`}
        value={edited.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        maxLength={maxNameLength}
        data-autofocus
      />
      <Textarea
        label="Note"
        description="What the next person should know about this device."
        value={edited.note}
        onChange={(event) => set({ note: event.currentTarget.value })}
        maxLength={maxEndpointNoteLength}
        autosize
        minRows={2}
        maxRows={10}
      />
      <Select
        label="Leaves the network while it is off"
        description="If it does, it is shown as asleep instead of offline while it is off."
        data={sleepsChoices}
        value={edited.sleeps}
        onChange={(sleeps) => sleeps !== null && set({ sleeps })}
        allowDeselect={false}
      />
      <TextInput
        label="Asset tag"
        description="Its inventory number. Optional."
        value={edited.assetTag}
        onChange={(event) => set({ assetTag: event.currentTarget.value })}
        maxLength={maxAssetTagLength}
        autoComplete="off"
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          type="date"
          label="Installed on"
          value={edited.installedOn}
          onChange={(event) => set({ installedOn: event.currentTarget.value })}
        />
        <TextInput
          type="date"
          label="Warranty until"
          value={edited.warrantyUntil}
          onChange={(event) => set({ warrantyUntil: event.currentTarget.value })}
        />
      </SimpleGrid>
      <ExternalIdField value={edited.externalId} onChange={(externalId) => set({ externalId })} />
      <CustomFieldsEditor lines={lines} knownNames={knownNames} onChange={setLines} />
    </DialogForm>
  )
}

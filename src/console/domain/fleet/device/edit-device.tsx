// Changes the name and the note of a device in a dialog.
import { Modal, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxEndpointNoteLength } from '../../../../contract/fleet/endpoints.ts'
import { maxNameLength } from '../../../../contract/shape.ts'
import { useWrite } from '../../../api.ts'
import { useBaseline } from '../../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { LoadingBoundary } from '../../../parts/page/page.tsx'
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

interface Fields {
  readonly name: string
  readonly note: string
}

/** A name that the device reports itself is not in the field: it goes on changing with the device. */
const fieldsOf = ({ name, reportedName, note }: DeviceDetails): Fields => ({
  name: name === undefined || name === reportedName ? '' : name,
  note: note ?? '',
})

/** An empty text clears what is stored. */
const changedText = (before: string, after: string): string | null | undefined =>
  after === before ? undefined : after || null

function DeviceFields({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { now, seen, reload } = useBaseline('endpointsGet', { id })
  const write = useWrite('endpointsUpdate', { quiet: true, successText: 'Device saved', onDone: onClose })
  const before = fieldsOf(seen.body)
  const present = fieldsOf(now.body)
  // The ETag also changes when the device is moved. While the edited fields are unchanged, the new ETag is used.
  const isSame = before.name === present.name && before.note === present.note
  const save = (fields: Fields) => {
    const name = changedText(before.name, fields.name)
    const note = changedText(before.note, fields.note)
    const body = { ...(name !== undefined && { name }), ...(note !== undefined && { note }) }
    write.mutate({ input: { id, body }, ifMatch: isSame ? now.etag : seen.etag })
  }
  return (
    <DeviceForm
      key={seen.etag}
      before={before}
      device={seen.body}
      isBusy={write.isPending}
      error={write.error}
      onSubmit={save}
      onCancel={onClose}
      onReload={() => reload(write.reset)}
    />
  )
}

interface DeviceFormProps {
  readonly before: Fields
  readonly device: DeviceDetails
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (fields: Fields) => void
  readonly onCancel: () => void
  readonly onReload: () => void
}

function DeviceForm({ before, device, onSubmit, ...form }: DeviceFormProps) {
  const [name, setName] = useState(before.name)
  const [note, setNote] = useState(before.note)
  const fields = { name: name.trim(), note: note.trim() }
  const unnamed = deviceName({ ...device, name: device.reportedName })
  return (
    <DialogForm
      verb="Save"
      canSubmit={fields.name !== before.name || fields.note !== before.note}
      onSubmit={() => onSubmit(fields)}
      {...form}
    >
      <TextInput
        label="Name"
        description={`Without a name, the device is shown as ${unnamed}.`}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        data-autofocus
      />
      <Textarea
        label="Note"
        description="What the next person should know about this device."
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
        maxLength={maxEndpointNoteLength}
        autosize
        minRows={2}
        maxRows={10}
      />
    </DialogForm>
  )
}

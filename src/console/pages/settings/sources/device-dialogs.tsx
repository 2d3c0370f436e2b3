// The dialogs about devices of a source: their room, their latest message, and their removal. [contract 15.devices]
import { Checkbox, Code, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Source, SourceDevice } from '../../../../contract/fleet/sources.ts'
import { maxNameLength } from '../../../../contract/shape.ts'
import { oneLine } from '../../../../contract/words.ts'
import { useBody, useWrite } from '../../../api.ts'
import { RoomSelect } from '../../../domain/fleet/room/room-select.tsx'
import { ConfirmDialog } from '../../../parts/dialog/confirm-dialog.tsx'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { LoadingBoundary } from '../../../parts/page/page.tsx'
import { plural } from '../../../parts/text/words.ts'
import { canAdopt, decisions, sourceDeviceName } from './device-rows.ts'
import type { Decide } from './use-decide.ts'

export interface DeviceTask {
  readonly name: 'adopt' | 'move' | 'message' | 'remove'
  readonly devices: readonly SourceDevice[]
}

interface SourceDeviceDialogsProps {
  readonly source: Source
  readonly task: DeviceTask | undefined
  readonly decide: Decide
  readonly onClose: () => void
  readonly onDone: () => void
}

export function SourceDeviceDialogs({ source, task, decide, onClose, onDone }: SourceDeviceDialogsProps) {
  if (!task) return null
  const [device] = task.devices
  if (!device) return null
  const name = oneLine(sourceDeviceName(device))
  switch (task.name) {
    case 'adopt':
    case 'move':
      return (
        <Modal opened onClose={onClose} title={roomTitle(task)}>
          <RoomForm task={task} decide={decide} onClose={onClose} onDone={onDone} />
        </Modal>
      )
    case 'message':
      return (
        <Modal opened onClose={onClose} title={`Latest message of ${name}`} size="lg">
          <LoadingBoundary>
            <LatestMessage source={source} deviceKey={device.key} />
          </LoadingBoundary>
        </Modal>
      )
    case 'remove':
      return <RemoveDevice source={source} device={device} onClose={onClose} onDone={onDone} />
  }
}

function roomTitle({ name, devices }: DeviceTask): string {
  const adopted = devices.filter(canAdopt)
  const [first] = name === 'move' ? devices : adopted
  const what = devices.length === 1 && first ? oneLine(sourceDeviceName(first)) : plural(adopted.length, 'device')
  return name === 'move' ? `Move ${what}` : `Put ${what} into a room`
}

type RoomFormProps = Pick<SourceDeviceDialogsProps, 'decide' | 'onClose' | 'onDone'> & { readonly task: DeviceTask }

function RoomForm({ task: { name, devices }, decide, onClose, onDone }: RoomFormProps) {
  const [device] = devices
  const [roomId, setRoomId] = useState<string | null>(() => proposedRoom(devices))
  const [ownName, setOwnName] = useState('')
  const isMove = name === 'move'
  const adopted = decisions.adopt(devices, Number(roomId))
  const left = devices.length - adopted.length
  const submit = () => {
    const trimmed = ownName.trim()
    if (isMove && device) decide.run([{ key: device.key, roomId: Number(roomId) }], onDone)
    else
      decide.run(
        adopted.map((one) => (trimmed === '' ? one : { ...one, name: trimmed })),
        onDone,
      )
  }
  return (
    <DialogForm
      verb={isMove ? 'Move' : 'Put into the room'}
      canSubmit={roomId !== null}
      isBusy={decide.isPending}
      error={decide.error}
      onSubmit={submit}
      onCancel={() => {
        decide.reset()
        onClose()
      }}
    >
      {!isMove && left > 0 && (
        <Text fz="sm">
          {plural(left, 'selected device')} cannot be put into a room, or are in one, and stay as they are.
        </Text>
      )}
      <RoomSelect
        label="Room"
        value={roomId}
        onChange={setRoomId}
        exceptId={isMove ? device?.roomId : undefined}
        hasFirstFocus
        required
      />
      {!isMove && devices.length === 1 && (
        <TextInput
          label="Name"
          description="Optional. Without a name, that of the source is shown."
          placeholder={device?.name ?? ''}
          value={ownName}
          onChange={(event) => setOwnName(event.currentTarget.value)}
          maxLength={maxNameLength}
          autoComplete="off"
        />
      )}
    </DialogForm>
  )
}

/** The room that is linked to the room of all devices. */
function proposedRoom(devices: readonly SourceDevice[]): string | null {
  const [first] = devices
  const linked = first?.linkedRoomId
  return linked !== undefined && devices.every(({ linkedRoomId }) => linkedRoomId === linked) ? String(linked) : null
}

/** Only the answer about one device has its message. */
function LatestMessage({ source, deviceKey }: { readonly source: Source; readonly deviceKey: string }) {
  const { devices } = useBody('sourceDevicesList', { id: source.id, key: deviceKey })
  const [device] = devices
  if (device?.lastMessage === undefined) return <Text c="dimmed">No message has been kept of this device.</Text>
  return (
    <Stack gap="xs">
      {device.topic !== undefined && <Text fz="sm">Topic: {device.topic}</Text>}
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', maxHeight: '50vh', overflowY: 'auto' }}>
        {formatted(device.lastMessage)}
      </Code>
      {device.notUnderstood && device.notUnderstood.length > 0 && (
        <>
          <Text fz="sm" fw={600}>
            Not understood
          </Text>
          <ul style={{ margin: 0, paddingLeft: 20 }}>
            {device.notUnderstood.map((text) => (
              <Text key={text} component="li" fz="sm">
                {oneLine(text)}
              </Text>
            ))}
          </ul>
        </>
      )}
    </Stack>
  )
}

/** JSON is indented; any other text, or JSON that was cut, stays as it is. */
function formatted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

interface RemoveDeviceProps {
  readonly source: Source
  readonly device: SourceDevice
  readonly onClose: () => void
  readonly onDone: () => void
}

function RemoveDevice({ source, device, onClose, onDone }: RemoveDeviceProps) {
  const [isUnenrolled, setUnenrolled] = useState(true)
  const name = oneLine(sourceDeviceName(device))
  const remove = useWrite('gatewayDevicesDelete', { quiet: true, successText: `${name} removed`, onDone })
  const input = { id: source.gatewayId, deviceId: device.deviceId ?? '', unenrol: isUnenrolled }
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`Remove ${name}?`}
      verb="Remove device"
      mutation={remove}
      onConfirm={() => remove.mutate({ input })}
    >
      <Text fz="sm">
        It stays in the list of the source as excluded, until you take it back. Nothing is changed there.
      </Text>
      {device.endpointId !== undefined && (
        <Checkbox
          mt="sm"
          label="Unenrol the device too"
          description={
            isUnenrolled
              ? 'It leaves its room, and its settings and their history are deleted. This cannot be undone.'
              : 'It stays in its room, offline and without a gateway.'
          }
          checked={isUnenrolled}
          onChange={(event) => setUnenrolled(event.currentTarget.checked)}
        />
      )}
    </ConfirmDialog>
  )
}

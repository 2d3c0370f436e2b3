// Sends the messages of a period to a channel again, with the ids that they had. [contract 10.delivery]
import { Checkbox, Group, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type DeliveryState, deliveryStates } from '../../../../contract/channels/channels.ts'
import { useWrite } from '../../../api.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { plural } from '../../../parts/text/words.ts'
import { deliveryStateNames } from './channel.ts'

interface ReplayFormProps {
  readonly channelId: string
  readonly onClose: () => void
}

/** Waiting messages are sent anyway. */
const replayable = deliveryStates.filter((state) => state !== 'WAITING')

export function ReplayForm({ channelId, onClose }: ReplayFormProps) {
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [states, setStates] = useState<DeliveryState[]>(['GIVEN_UP'])
  const replay = useWrite('deliveriesReplay', {
    quiet: true,
    successText: ({ count }) => (count === 0 ? 'No messages found' : `Sending ${plural(count, 'message')} again`),
    onDone: onClose,
  })
  const isOrdered = to === '' || new Date(from) < new Date(to)
  const submit = () =>
    replay.mutate({
      input: {
        id: channelId,
        body: {
          from: new Date(from).toISOString(),
          ...(to !== '' && { to: new Date(to).toISOString() }),
          states,
        },
      },
    })
  return (
    <DialogForm
      verb="Send again"
      canSubmit={from !== '' && isOrdered && states.length > 0}
      isBusy={replay.isPending}
      error={replay.error}
      onSubmit={submit}
      onCancel={onClose}
    >
      <Text fz="sm">
        Messages keep their ids, so that a receiver recognises those that it already has. At most 10,000 are sent.
      </Text>
      <TextInput
        type="datetime-local"
        label="From"
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        type="datetime-local"
        label="To"
        description="Optional. Until now if empty."
        error={!isOrdered && 'Choose a time after the start.'}
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
      />
      <Checkbox.Group
        label="State"
        value={states}
        onChange={(values) => setStates(values as DeliveryState[])}
        error={states.length === 0 && 'Choose at least one.'}
      >
        <Group gap="md" mt={6}>
          {replayable.map((state) => (
            <Checkbox key={state} value={state} label={deliveryStateNames[state]} />
          ))}
        </Group>
      </Checkbox.Group>
    </DialogForm>
  )
}

// The dialogs of a channel: create, edit, new secret, delete. A secret is shown once, and only the Done button closes it.

import { Modal, NumberInput, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { defaultOverlapHours, maxOverlapHours } from '../../../../contract/incidents/limits.ts'
import { useWrite } from '../../../api.ts'
import { useBaseline } from '../../../parts/dialog/concurrent-change.ts'
import { ConfirmDialog } from '../../../parts/dialog/confirm-dialog.tsx'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { LoadingBoundary } from '../../../parts/page/page.tsx'
import { plural } from '../../../parts/text/words.ts'
import { type ListedChannel, targetText } from './channel.ts'
import { channelDraftOf, createBody, newChannelDraft, updateBody } from './channel-draft.ts'
import { ChannelForm } from './channel-form.tsx'
import { SecretDisplay } from './secret-display.tsx'

interface DialogProps {
  readonly opened: boolean
  readonly onClose: () => void
}
interface ChannelDialogProps extends DialogProps {
  readonly channel: ListedChannel
}

/** Shows a form until it has made a secret, then the secret. */
function SecretModal(
  props: DialogProps & {
    readonly title: string
    readonly form: (onSecret: (secret: string | undefined) => void) => ReactNode
  },
) {
  const { opened, onClose, title, form } = props
  const [secret, setSecret] = useState<string>()
  const canLeave = secret === undefined
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={canLeave ? title : 'Save the signing secret'}
      withCloseButton={canLeave}
      closeOnEscape={canLeave}
      closeOnClickOutside={canLeave}
      onExitTransitionEnd={() => setSecret(undefined)}
    >
      <LoadingBoundary>
        {canLeave ? (
          form((made) => (made === undefined ? onClose() : setSecret(made)))
        ) : (
          <SecretDisplay secret={secret} onDone={onClose} />
        )}
      </LoadingBoundary>
    </Modal>
  )
}

export const NewChannelDialog = (props: DialogProps) => (
  <SecretModal
    {...props}
    title="New channel"
    form={(onSecret) => <NewChannelForm onSecret={onSecret} onClose={props.onClose} />}
  />
)

interface SecretFormProps {
  readonly onSecret: (secret: string | undefined) => void
  readonly onClose: () => void
}

function NewChannelForm({ onSecret, onClose }: SecretFormProps) {
  const create = useWrite('channelsCreate', {
    quiet: true,
    successText: 'Channel created',
    onDone: ({ secret }) => onSecret(secret),
  })
  return (
    <ChannelForm
      verb="Create channel"
      initial={newChannelDraft}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(draft) => create.mutate({ input: { body: createBody(draft) } })}
      onClose={onClose}
    />
  )
}

export const EditChannelDialog = ({ channel, opened, onClose }: ChannelDialogProps) => (
  <Modal opened={opened} onClose={onClose} title={`Edit ${channel.name}`}>
    <LoadingBoundary>
      <EditChannelForm id={channel.id} onClose={onClose} />
    </LoadingBoundary>
  </Modal>
)

function EditChannelForm({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { seen, reload } = useBaseline('channelsGet', { id })
  const update = useWrite('channelsUpdate', { quiet: true, successText: 'Channel saved', onDone: onClose })
  return (
    <ChannelForm
      key={seen.etag}
      verb="Save"
      initial={channelDraftOf(seen.body)}
      storedTarget={targetText(seen.body)}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={(draft) => update.mutate({ input: { id, body: updateBody(draft) }, ifMatch: seen.etag })}
      onClose={onClose}
      onReload={() => reload(update.reset)}
    />
  )
}

export const NewSecretDialog = ({ channel, ...props }: ChannelDialogProps) => (
  <SecretModal
    {...props}
    title={`New secret for ${channel.name}`}
    form={(onSecret) => <NewSecretForm id={channel.id} onSecret={onSecret} onClose={props.onClose} />}
  />
)

function NewSecretForm({ id, onSecret, onClose }: SecretFormProps & { readonly id: string }) {
  const [hours, setHours] = useState<number | string>(defaultOverlapHours)
  const rotate = useWrite('channelsRotateSecret', { quiet: true, onDone: ({ secret }) => onSecret(secret) })
  return (
    <DialogForm
      verb="Create secret"
      canSubmit={typeof hours === 'number'}
      isBusy={rotate.isPending}
      error={rotate.error}
      onSubmit={() => rotate.mutate({ input: { id, body: { overlapHours: Number(hours) } } })}
      onCancel={onClose}
    >
      <Text fz="sm">Messages are signed with both secrets until the old one expires.</Text>
      <NumberInput
        label="Old secret ends after (hours)"
        value={hours}
        onChange={setHours}
        min={0}
        max={maxOverlapHours}
        hideControls
        data-autofocus
      />
    </DialogForm>
  )
}

export function DeleteChannelDialog(props: ChannelDialogProps & { readonly onDeleted: () => void | Promise<void> }) {
  const { channel, opened, onClose, onDeleted } = props
  const remove = useWrite('channelsDelete', { quiet: true, successText: 'Channel deleted', onDone: onDeleted })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Delete ${channel.name}?`}
      verb="Delete channel"
      mutation={remove}
      onConfirm={() => remove.mutate({ input: { id: channel.id } })}
    >
      <Text fz="sm">
        The channel and its log are deleted.
        {channel.waiting > 0 && ` ${plural(channel.waiting, 'waiting message')} will not be sent.`}
      </Text>
    </ConfirmDialog>
  )
}

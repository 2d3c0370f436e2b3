// The dialogs that connect a source, change one, and remove one. [contract 15.sources]
import { Button, Checkbox, Modal, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { SourceType } from '../../../../contract/fleet/drivers.ts'
import type { Source } from '../../../../contract/fleet/sources.ts'
import { oneLine } from '../../../../contract/words.ts'
import { useBody, useWrite } from '../../../api.ts'
import { sourceTypeNames } from '../../../domain/fleet/source/source.ts'
import { useBaseline } from '../../../parts/dialog/concurrent-change.ts'
import { ConfirmDialog } from '../../../parts/dialog/confirm-dialog.tsx'
import { EmptyState, LoadingBoundary } from '../../../parts/page/page.tsx'
import { plural } from '../../../parts/text/words.ts'
import { newSourceDraft, sourceCreateBody, sourceDraftOf, sourceUpdateBody } from './source-draft.ts'
import { SourceForm } from './source-form.tsx'

interface DialogProps {
  readonly opened: boolean
  readonly onClose: () => void
}

interface ConnectSourceProps extends DialogProps {
  readonly type: SourceType
  readonly onConnected: (id: string) => void
}

const connectTitles: Readonly<Record<SourceType, string>> = {
  'neat-pulse': 'Connect Neat Pulse',
  mqtt: 'Connect an MQTT broker',
}
export const connectTitle = (type: SourceType): string => connectTitles[type]

/** A click outside does not close it: entries would be lost. */
export const ConnectSource = ({ opened, onClose, type, onConnected }: ConnectSourceProps) => (
  <Modal opened={opened} onClose={onClose} title={connectTitle(type)} size="lg" closeOnClickOutside={false}>
    <LoadingBoundary>
      <NewSource type={type} onConnected={onConnected} onClose={onClose} />
    </LoadingBoundary>
  </Modal>
)

function NewSource({ type, onConnected, onClose }: Omit<ConnectSourceProps, 'opened'>) {
  const { gateways } = useBody('gatewaysList')
  const preferred = gateways.find(({ state }) => state === 'ONLINE') ?? gateways[0]
  const [initial] = useState(() => newSourceDraft(type, preferred?.id ?? null))
  const create = useWrite('sourcesCreate', {
    quiet: true,
    successText: `${sourceTypeNames[type]} connected. The gateway reads it now.`,
    onDone: ({ id }) => onConnected(id),
  })
  if (gateways.length === 0) return <NoGateway onClose={onClose} />
  return (
    <SourceForm
      {...{ type, gateways, initial }}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(draft) => create.mutate({ input: { body: sourceCreateBody(type, draft) } })}
      onCancel={onClose}
    />
  )
}

const NoGateway = ({ onClose }: { readonly onClose: () => void }) => (
  <EmptyState title="There is no gateway yet">
    <p>
      A gateway reads the sources: a small program in your network, or one beside the server, which{' '}
      <code>roomkeeper serve --gateway</code> starts.
    </p>
    <Button renderRoot={(props) => <Link {...props} to="/settings" search={{ tab: 'gateways' }} />} onClick={onClose}>
      Set up a gateway
    </Button>
  </EmptyState>
)

interface EditSourceProps extends DialogProps {
  readonly source: Source
  /** The test runs when the dialog opens, to show the certificate that the source has now. */
  readonly startsWithTest: boolean
}

export const EditSource = ({ source, startsWithTest, opened, onClose }: EditSourceProps) => (
  <Modal opened={opened} onClose={onClose} title={`Edit ${oneLine(source.name)}`} size="lg" closeOnClickOutside={false}>
    <LoadingBoundary>
      <StoredSource id={source.id} startsWithTest={startsWithTest} onClose={onClose} />
    </LoadingBoundary>
  </Modal>
)

interface StoredSourceProps {
  readonly id: string
  readonly startsWithTest: boolean
  readonly onClose: () => void
}

function StoredSource({ id, startsWithTest, onClose }: StoredSourceProps) {
  const { seen, reload } = useBaseline('sourcesGet', { id })
  const { gateways } = useBody('gatewaysList')
  const update = useWrite('sourcesUpdate', {
    quiet: true,
    successText: 'Saved. The gateway tries the source now.',
    onDone: onClose,
  })
  const { body: source, etag } = seen
  const initial = useMemo(() => sourceDraftOf(source), [source])
  return (
    <SourceForm
      key={etag}
      type={source.type}
      {...{ gateways, source, initial, startsWithTest }}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={(draft) => update.mutate({ input: { id, body: sourceUpdateBody(source, draft) }, ifMatch: etag })}
      onCancel={onClose}
      onReload={() => reload(update.reset)}
    />
  )
}

interface DeleteSourceProps extends DialogProps {
  readonly source: Source
  readonly onDeleted: () => void
}

export function DeleteSource({ source, opened, onClose, onDeleted }: DeleteSourceProps) {
  const [isUnenrolled, setUnenrolled] = useState(false)
  const name = oneLine(source.name)
  const adopted = source.devices.ADOPTED
  const remove = useWrite('sourcesDelete', { quiet: true, successText: `${name} removed`, onDone: onDeleted })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Remove ${name}?`}
      verb="Remove source"
      mutation={remove}
      onConfirm={() => remove.mutate({ input: { id: source.id, unenrol: adopted > 0 && isUnenrolled } })}
    >
      <Text fz="sm">
        The gateway no longer reads it. Its links and the list of its devices are deleted. Regions, locations, rooms and
        profiles that were made from it stay, and nothing is changed at the source itself.
      </Text>
      {adopted > 0 && (
        <Checkbox
          mt="sm"
          label={`Unenrol its ${plural(adopted, 'device')} too`}
          description={
            isUnenrolled
              ? 'They leave their rooms, and their settings and history of settings are deleted. This cannot be undone.'
              : 'Without it they stay in their rooms, offline and without a gateway, with their history.'
          }
          checked={isUnenrolled}
          onChange={(event) => setUnenrolled(event.currentTarget.checked)}
        />
      )}
    </ConfirmDialog>
  )
}

// The forms of a saved view: its name, and whether everybody has it.
import { Checkbox, Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { ViewPage } from '../../../../contract/people/views.ts'
import { maxNameLength } from '../../../../contract/shape.ts'
import { useWrite } from '../../../api.ts'
import { ConfirmDialog } from '../../../parts/dialog/confirm-dialog.tsx'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { usePermissions } from '../../../session.ts'
import type { SavedView } from './saved-view.ts'

/** The part of a list's address that a view keeps. */
export interface ViewDraft {
  readonly page: ViewPage
  readonly query: string
  readonly columns: readonly string[] | undefined
}

export type ViewTask = 'save' | 'edit' | 'delete'

interface ViewDialogsProps {
  readonly task: ViewTask | undefined
  readonly draft: ViewDraft
  /** The view that is open. */
  readonly view: SavedView | undefined
  readonly onClose: () => void
  readonly onSaved: (view: SavedView) => void
  readonly onDeleted: () => void
}

export function ViewDialogs({ task, draft, view, onClose, onSaved, onDeleted }: ViewDialogsProps) {
  const remove = useWrite('viewsDelete', {
    quiet: true,
    successText: 'View deleted',
    onDone: () => {
      onClose()
      onDeleted()
    },
  })
  return (
    <>
      <Modal opened={task === 'save'} onClose={onClose} title="Save view">
        <NewViewForm draft={draft} onClose={onClose} onSaved={onSaved} />
      </Modal>
      <Modal opened={task === 'edit'} onClose={onClose} title="Rename or share view">
        {view && <EditViewForm key={view.version} view={view} onClose={onClose} />}
      </Modal>
      <ConfirmDialog
        opened={task === 'delete'}
        onClose={onClose}
        title={`Delete the view ${view?.name ?? ''}?`}
        verb="Delete view"
        mutation={remove}
        onConfirm={() => view && remove.mutate({ input: { id: view.id }, ifMatch: `"${view.version}"` })}
      >
        {view?.shared ? 'Everybody in the organisation loses this view.' : 'The rows of the list stay as they are.'}
      </ConfirmDialog>
    </>
  )
}

interface NewViewFormProps extends Pick<ViewDialogsProps, 'draft' | 'onClose' | 'onSaved'> {}

function NewViewForm({ draft: { page, query, columns }, onClose, onSaved }: NewViewFormProps) {
  const create = useWrite('viewsCreate', {
    quiet: true,
    successText: ({ name }) => `View ${name} saved`,
    onDone: (view) => {
      onClose()
      onSaved(view)
    },
  })
  return (
    <ViewForm
      verb="Save view"
      initial={{ name: '', shared: false }}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(fields) =>
        create.mutate({ input: { body: { ...fields, page, query, columns: columns ? [...columns] : null } } })
      }
      onCancel={onClose}
    />
  )
}

interface EditViewFormProps {
  readonly view: SavedView
  readonly onClose: () => void
}

function EditViewForm({ view, onClose }: EditViewFormProps) {
  const update = useWrite('viewsUpdate', { quiet: true, successText: 'View saved', onDone: onClose })
  return (
    <ViewForm
      verb="Save view"
      initial={view}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={(body) => update.mutate({ input: { id: view.id, body }, ifMatch: `"${view.version}"` })}
      onCancel={onClose}
    />
  )
}

interface ViewFields {
  readonly name: string
  readonly shared: boolean
}

interface ViewFormProps {
  readonly verb: string
  readonly initial: ViewFields
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (fields: ViewFields) => void
  readonly onCancel: () => void
}

/** Only callers with Write share views. */
function ViewForm({ initial, onSubmit, ...form }: ViewFormProps) {
  const { write } = usePermissions()
  const [name, setName] = useState(initial.name)
  const [shared, setShared] = useState(initial.shared)
  const fields = { name: name.trim(), shared }
  const isSame = fields.name === initial.name && shared === initial.shared
  return (
    <DialogForm canSubmit={fields.name !== '' && !isSame} onSubmit={() => onSubmit(fields)} {...form}>
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        autoComplete="off"
        data-autofocus
      />
      {write && (
        <Checkbox
          label="Share with everybody in the organisation"
          description="Each person sees the rows of their own regions."
          checked={shared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
      )}
    </DialogForm>
  )
}

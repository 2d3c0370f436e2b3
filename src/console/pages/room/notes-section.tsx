// Lists the notes of a room, newest first; notes can be added and deleted.

import { ActionIcon, Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { maxNoteCharacters } from '../../../contract/incidents/limits.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { useBody, useWrite } from '../../api.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { isSubmitShortcut } from '../../parts/dialog/dialog-form.tsx'
import { BinIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { usePermissions } from '../../session.ts'
import classes from './room.module.css'

type Note = ResponseOf<Operations['roomNotesList']>['notes'][number]

interface NotesSectionProps {
  readonly roomId: number
  readonly zone: string
}

const maxNotesCollapsed = 5

export function NotesSection({ roomId, zone }: NotesSectionProps) {
  const { notes } = useBody('roomNotesList', { roomId })
  const { operate } = usePermissions()
  const [showsAll, setShowsAll] = useState(false)
  const [deleting, setDeleting] = useState<Note>()
  const shown = showsAll ? notes : notes.slice(0, maxNotesCollapsed)
  return (
    <Section title="Notes">
      <Stack gap="sm">
        {operate && <NewNote roomId={roomId} />}
        {notes.length === 0 && (
          <Text fz="sm" c="dimmed">
            No notes yet. Add what colleagues should know about this room.
          </Text>
        )}
        {shown.map((note) => (
          <article key={note.id} aria-label={`Note by ${note.author}`}>
            <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
              <Text fz="xs" c="dimmed" pt={4} style={{ overflowWrap: 'anywhere' }}>
                <strong>{note.author}</strong>, <DateTime at={note.createdAt} zone={zone} />
              </Text>
              {operate && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={26}
                  aria-label={`Delete note by ${note.author}`}
                  onClick={() => setDeleting(note)}
                >
                  <BinIcon size={16} />
                </ActionIcon>
              )}
            </Group>
            <Text fz="sm" className={classes.note}>
              {note.note}
            </Text>
          </article>
        ))}
        {shown.length < notes.length && (
          <Button variant="subtle" size="xs" onClick={() => setShowsAll(true)}>
            Show all {notes.length} notes
          </Button>
        )}
      </Stack>
      <DeleteNote note={deleting} onClose={() => setDeleting(undefined)} />
    </Section>
  )
}

function NewNote({ roomId }: { readonly roomId: number }) {
  const [text, setText] = useState('')
  const write = useWrite('roomNotesCreate', { onDone: () => setText('') })
  const canAdd = text.trim() !== '' && !write.isPending
  const add = () => write.mutate({ input: { roomId, body: { note: text.trim() } } })
  const addByKey = (event: KeyboardEvent) => {
    if (isSubmitShortcut(event) && canAdd) add()
  }
  return (
    <div data-screen-only>
      <Textarea
        label="New note"
        description="Ctrl+Enter to add"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={addByKey}
        maxLength={maxNoteCharacters}
        autosize
        minRows={2}
        maxRows={10}
      />
      <Group justify="flex-end" mt="xs">
        <Button size="xs" variant="default" disabled={text.trim() === ''} loading={write.isPending} onClick={add}>
          Add note
        </Button>
      </Group>
    </div>
  )
}

function DeleteNote({ note, onClose }: { readonly note: Note | undefined; readonly onClose: () => void }) {
  const write = useWrite('roomNotesDelete', { quiet: true, successText: 'Note deleted', onDone: onClose })
  return (
    <ConfirmDialog
      opened={note !== undefined}
      onClose={onClose}
      title="Delete note"
      verb="Delete note"
      mutation={write}
      onConfirm={() => note && write.mutate({ input: { roomId: note.roomId, noteId: note.id } })}
    >
      {note && (
        <>
          <Text>Delete this note by {note.author}?</Text>
          <Text mt="xs" fz="sm" c="dimmed" lineClamp={6} className={classes.note}>
            {note.note}
          </Text>
        </>
      )}
    </ConfirmDialog>
  )
}

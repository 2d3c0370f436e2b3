// Adds a note to the room of an incident, or a comment to its timeline.

import { Radio, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { maxNoteCharacters } from '../../../../contract/incidents/limits.ts'
import { useWrite } from '../../../api.ts'
import { DialogForm, isSubmitShortcut } from '../../../parts/dialog/dialog-form.tsx'
import type { IncidentFormProps } from './incident-tasks.ts'

export function NoteForm({ incident, onClose }: IncidentFormProps) {
  const roomId = incident.roomIds.length === 1 ? incident.roomIds[0] : undefined
  const [target, setTarget] = useState(roomId === undefined ? 'incident' : 'room')
  const [text, setText] = useState('')
  const addNote = useWrite('roomNotesCreate', { quiet: true, successText: 'Note added to the room', onDone: onClose })
  const comment = useWrite('incidentsComment', { quiet: true, successText: 'Comment added', onDone: onClose })
  const write = target === 'room' ? addNote : comment
  const canSubmit = text.trim() !== ''
  const submit = () => {
    if (target === 'room' && roomId !== undefined) addNote.mutate({ input: { roomId, body: { note: text.trim() } } })
    else comment.mutate({ input: { id: incident.id, body: { text: text.trim() } } })
  }
  return (
    <DialogForm
      verb="Add note"
      canSubmit={canSubmit}
      isBusy={write.isPending}
      error={write.error}
      onSubmit={submit}
      onCancel={onClose}
    >
      <Textarea
        label="Note"
        description="Ctrl+Enter to add"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (isSubmitShortcut(event) && canSubmit && !write.isPending) submit()
        }}
        maxLength={maxNoteCharacters}
        autosize
        minRows={3}
        maxRows={10}
        data-autofocus
      />
      {roomId !== undefined && (
        <Radio.Group label="Add to" value={target} onChange={setTarget}>
          <Stack gap="xs" mt="xs">
            <Radio value="room" label="The room" description="Shown on the room page and in the list of incidents." />
            <Radio value="incident" label="This incident only" description="Shown in the timeline." />
          </Stack>
        </Radio.Group>
      )}
    </DialogForm>
  )
}

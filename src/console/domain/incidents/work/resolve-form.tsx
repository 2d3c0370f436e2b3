// Closes an incident by hand, with a note that says why. [contract 10.states]

import { Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { maxNoteCharacters } from '../../../../contract/incidents/limits.ts'
import { incidentRules } from '../../../../contract/incidents/rule-table.ts'
import { useWrite } from '../../../api.ts'
import { useBaseline } from '../../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import type { IncidentFormProps } from './incident-tasks.ts'

export function ResolveForm({ incident: { id, rule }, onClose }: IncidentFormProps) {
  const { now, seen, reload } = useBaseline('incidentsGet', { id })
  // The service changes an incident that grows. Only a change of its state matters to a person who resolves it.
  const ifMatch = now.body.state === seen.body.state ? now.etag : seen.etag
  const [note, setNote] = useState('')
  const resolve = useWrite('incidentsResolve', { quiet: true, successText: 'Incident resolved', onDone: onClose })
  return (
    <DialogForm
      verb="Resolve"
      canSubmit={note.trim() !== ''}
      isBusy={resolve.isPending}
      error={resolve.error}
      onSubmit={() => resolve.mutate({ input: { id, body: { note: note.trim() } }, ifMatch })}
      onCancel={onClose}
      onReload={() => reload(resolve.reset)}
    >
      <Text fz="sm">
        An incident resolves by itself when its problem ends. Resolve manually to accept a known problem.{' '}
        {incidentRules[rule].reopensOnNewAttempt
          ? 'It reopens on the next attempt.'
          : 'It stays resolved while the problem lasts.'}
      </Text>
      <Textarea
        label="Reason"
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
        maxLength={maxNoteCharacters}
        autosize
        minRows={2}
        maxRows={8}
        data-autofocus
      />
    </DialogForm>
  )
}

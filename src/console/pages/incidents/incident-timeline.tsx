// The timeline of an incident, newest first, and the field that adds a comment.

import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { maxNoteCharacters } from '../../../contract/incidents/limits.ts'
import { capitalised } from '../../../contract/words.ts'
import { useWrite } from '../../api.ts'
import { type IncidentDetails, snoozeText } from '../../domain/incidents/incident.ts'
import { timelineNames } from '../../domain/incidents/incident-state.ts'
import { isSubmitShortcut } from '../../parts/dialog/dialog-form.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { usePermissions } from '../../session.ts'
import classes from './incidents.module.css'

const maxEntries = 200

export function IncidentTimeline({ incident: { id, timeline } }: { readonly incident: IncidentDetails }) {
  const { operate } = usePermissions()
  return (
    <Stack gap="md">
      {operate && <NewComment id={id} />}
      <ol className={classes.timeline} aria-label="Timeline">
        {timeline.toReversed().map((entry, index) => (
          // Entries have no id. With more than the largest number of entries all numbers move, so the time is in the key too.
          // biome-ignore lint/suspicious/noArrayIndexKey: counted from the oldest, an entry keeps its number
          <li key={`${entry.at} ${entry.kind} ${timeline.length - index}`}>
            <Text fz="sm">
              <b>{timelineNames[entry.kind]}</b>
              {entry.actor && entry.actor.type !== 'SYSTEM' && ` by ${entry.actor.name}`}{' '}
              <Text span fz="xs" c="dimmed">
                <DateTime at={entry.at} />
              </Text>
            </Text>
            {entry.text && (
              <Text fz="sm" className={classes.text}>
                {entry.kind === 'SNOOZED' ? capitalised(snoozeText(entry.text)) : entry.text}
              </Text>
            )}
          </li>
        ))}
      </ol>
      {timeline.length === maxEntries && (
        <Text fz="xs" c="dimmed">
          The latest {maxEntries} entries are shown.
        </Text>
      )}
    </Stack>
  )
}

function NewComment({ id }: { readonly id: string }) {
  const [text, setText] = useState('')
  const comment = useWrite('incidentsComment', { onDone: () => setText('') })
  const canAdd = text.trim() !== '' && !comment.isPending
  const add = () => comment.mutate({ input: { id, body: { text: text.trim() } } })
  return (
    <div data-screen-only>
      <Textarea
        label="New comment"
        description="Ctrl+Enter to add"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (isSubmitShortcut(event) && canAdd) add()
        }}
        maxLength={maxNoteCharacters}
        autosize
        minRows={2}
        maxRows={8}
      />
      <Group justify="flex-end" mt="xs">
        <Button size="xs" variant="default" disabled={text.trim() === ''} loading={comment.isPending} onClick={add}>
          Add comment
        </Button>
      </Group>
    </div>
  )
}

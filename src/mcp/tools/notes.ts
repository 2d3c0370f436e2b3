// Tools for what people write down: notes about rooms, and their work on incidents. All of it can be taken back.
import Type from 'typebox'
import { operations } from '../../contract/operations.ts'
import { directTool } from '../tool.ts'
import { incidentIdField, roomIdField } from './fields.ts'
import { shownIncident } from './look.ts'

export const noteTools = [
  directTool({
    name: 'add_room_note',
    title: 'Note about a room',
    description: 'Adds a note to a room, for the next person who works there.',
    needs: 'operate',
    input: Type.Object({ roomId: roomIdField, note: operations.roomNotesCreate.body.properties.note }),
    run: async ({ client }, { roomId, note }) => (await client.roomNotesCreate({ roomId, body: { note } })).body,
  }),
  directTool({
    name: 'acknowledge_incident',
    title: 'Acknowledge an incident',
    description: 'Says that a person has seen an incident and works on it.',
    needs: 'operate',
    input: Type.Object({ incidentId: incidentIdField, note: operations.incidentsAcknowledge.body.properties.note }),
    async run({ client }, { incidentId: id, note }) {
      const body = note === undefined ? {} : { note }
      return shownIncident((await client.incidentsAcknowledge({ id, body })).body)
    },
  }),
  directTool({
    name: 'comment_incident',
    title: 'Comment on an incident',
    description: 'Adds a comment to the timeline of an incident.',
    needs: 'operate',
    input: Type.Object({ incidentId: incidentIdField, text: operations.incidentsComment.body.properties.text }),
    run: async ({ client }, { incidentId: id, text }) =>
      shownIncident((await client.incidentsComment({ id, body: { text } })).body),
  }),
  directTool({
    name: 'snooze_incident',
    title: 'Snooze an incident',
    description: 'Hides an incident from the work list for a time. Null ends the snooze.',
    needs: 'operate',
    input: Type.Object({ incidentId: incidentIdField, until: operations.incidentsSnooze.body.properties.until }),
    run: async ({ client }, { incidentId: id, until }) =>
      shownIncident((await client.incidentsSnooze({ id, body: { until } })).body),
  }),
]

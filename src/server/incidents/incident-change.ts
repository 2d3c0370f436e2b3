// Runs what a person does about an incident as one audited change: the row, the timeline, the message and the event. [contract 10.states]

import type { ChannelEvent } from '../../contract/channels/messages.ts'
import type { TimelineKind } from '../../contract/incidents/incidents.ts'
import type { AuditedId } from '../../contract/operations.ts'
import { checkIfMatch } from '../context/if-match.ts'
import type { RequestContext } from '../context/request-context.ts'
import { Failure, mustFind } from '../core/failure.ts'
import type { Tx } from '../db/handles.ts'
import { change } from '../journal/audit/change.ts'
import { auditRef } from '../journal/audit/change-result.ts'
import { areMessagesWanted, queueMessages } from '../journal/outbox/outbox.ts'
import { incidentEvents } from './incident-event.ts'
import { assignmentMessage, incidentMessage, type MessageRecipient } from './incident-message.ts'
import { readIncidentAnswer, requireIncident } from './rules.ts'
import { areAllSilenced } from './silenced.ts'
import {
  type IncidentRow,
  insertTimelineEntry,
  listSubjects,
  lockIncident,
  type SubjectRow,
  updateIncident,
} from './store.ts'
import { readMessageContext } from './view-context.ts'

type ActionId = Extract<AuditedId, `incidents${string}`>

/** The changes of an action, and its entries in the timeline, the audit log and the messages. */
interface IncidentAction {
  readonly changes: Partial<Pick<IncidentRow, ChangedColumn>>
  readonly kind: TimelineKind
  readonly text?: string | undefined
  /** The user that the entry of the timeline is about. Its name is shown to readers who see that user. */
  readonly about?: number | undefined
  readonly message: ChannelEvent
  /** A person who is told too, through channels to people. */
  readonly told?: MessageRecipient | undefined
  readonly before: Readonly<Record<string, unknown>>
  readonly after: Readonly<Record<string, unknown>>
  readonly undone?: boolean
}
type ChangedColumn =
  | 'state'
  | 'acknowledged_by'
  | 'acknowledged_at'
  | 'assignee_id'
  | 'snoozed_until'
  | 'snoozed_until_cleared'
  | 'resolved_at'

export interface ActionContext {
  readonly tx: Tx
  readonly incident: IncidentRow
  readonly subjects: readonly SubjectRow[]
  readonly now: number
}

export const runIncidentAction = (
  ctx: RequestContext,
  operation: ActionId,
  incidentId: string,
  decide: (input: ActionContext) => Promise<IncidentAction>,
) =>
  change(ctx, operation, async (tx) => {
    const { id } = await requireIncident(tx, incidentId)
    const before = mustFind(await lockIncident(tx, { id }), `incident ${incidentId}`)
    checkIfMatch(ctx, before.version)
    const subjects = await listSubjects(tx, { incidents: [id] })
    const now = ctx.clock.now()
    const action = await decide({ tx, incident: before, subjects, now })
    const incident = {
      ...before,
      ...action.changes,
      version: before.version + 1,
      updated_at: Math.max(now, before.updated_at),
    }
    await updateIncident(tx, incident)
    const { type, id: actorId, name } = ctx.actor
    await insertTimelineEntry(tx, {
      incident: id,
      at: now,
      kind: action.kind,
      actor_type: type,
      actor_id: actorId,
      actor_name: name,
      text: action.text ?? null,
      user_id: action.about ?? null,
    })
    await queueActionMessage(ctx, tx, incident, subjects, action.message)
    if (action.told) await queueAssignment(ctx, tx, incident, subjects, action.told)
    tx.drafts.push(...incidentEvents(incident, subjects))
    return {
      result: await readIncidentAnswer(ctx, tx, incident, subjects),
      // The title would name subjects that some readers of the audit log do not see.
      target: auditRef('incident', { id, name: incident.rule }),
      before: action.before,
      after: action.after,
      located: subjects.map(({ room_id, location_id, region_id }) => ({
        endpoint: null,
        room: room_id,
        location: location_id,
        region: region_id,
      })),
      ...(action.undone && { undone: true }),
    }
  })

/** Queues the message of an action. A flapping incident sends none. If all of its subjects are silenced, only its end is queued, and delivered after the silence. */
async function queueActionMessage(
  ctx: RequestContext,
  tx: Tx,
  incident: IncidentRow,
  subjects: readonly SubjectRow[],
  type: ChannelEvent,
): Promise<void> {
  if (incident.flapping === 1 || !(await areMessagesWanted(tx, [type]))) return
  const now = ctx.clock.now()
  const open = subjects.filter((subject) => subject.ended_at === null)
  if (type !== 'incident.resolved' && (await areAllSilenced(tx, incident.rule, open, now))) return
  const context = await readMessageContext(tx, incident, subjects, now)
  await queueMessages(tx, [incidentMessage(type, incident, subjects, context)])
}

/** Tells a person that the incident is theirs now. A silence does not hold that back: it is about what a person did. */
async function queueAssignment(
  ctx: RequestContext,
  tx: Tx,
  incident: IncidentRow,
  subjects: readonly SubjectRow[],
  recipient: MessageRecipient,
): Promise<void> {
  if (!(await areMessagesWanted(tx, ['incident.assigned']))) return
  const seen = subjects.filter(({ region_id }) => recipient.access.sees(region_id))
  const context = await readMessageContext(tx, incident, seen, ctx.clock.now())
  await queueMessages(tx, [assignmentMessage(incident, seen, context, { recipient, by: ctx.actor.name })])
}

/** `participle` completes "… so it cannot be …", such as "resolved". */
export function requireOpenAndVisible({ tx, incident, subjects }: ActionContext, participle: string): void {
  const { id, state, merged_into } = incident
  if (state === 'RESOLVED') {
    throw new Failure(
      'FAILED_PRECONDITION',
      `incident ${id} is resolved, so it cannot be ${participle}. Comments are possible.`,
    )
  }
  if (state === 'MERGED') {
    throw new Failure(
      'FAILED_PRECONDITION',
      `incident ${id} was merged into incident ${merged_into}, so it cannot be ${participle}. Use incident ${merged_into} instead.`,
    )
  }
  const hidden = subjects.filter(({ ended_at, region_id }) => ended_at === null && !tx.access.sees(region_id)).length
  if (hidden === 0) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `incident ${id} also affects ${hidden} ${hidden === 1 ? 'subject' : 'subjects'} in regions that you do not see. Add a comment, or ask a person with access to these regions.`,
  )
}

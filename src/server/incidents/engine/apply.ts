// Writes what happened to incidents: rows, subjects, timeline, findings and messages, in one transaction. [contract 10.cause]
import { isOpenState } from '../../../contract/incidents/states.ts'
import type { TelemetryTx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import type { EventDraft } from '../../events/draft.ts'
import {
  areMessagesWanted,
  type MessageDraft,
  queueGrowth,
  queueMessages,
  reconsiderIncident,
} from '../../journal/outbox/outbox.ts'
import { incidentEvents } from '../incident-event.ts'
import { incidentMessage, placesOf } from '../incident-message.ts'
import { type IncidentRow, insertTimelineEntry, listSubjects, type SubjectRow } from '../store.ts'
import { readMessageContext } from '../view-context.ts'
import {
  deleteFindings,
  endSubjects,
  insertIncident,
  updateEngineIncident,
  upsertFindings,
  upsertSubjects,
} from './engine-store.ts'
import { findingKey } from './findings.ts'
import type { EngineIncident, IncidentUpdate } from './grouping/incident-drafts.ts'
import { upsertJudgedUntil } from './restarts/settle-store.ts'
import { findingRow, rowOf, subjectOf } from './rows.ts'
import type { Finding, Structure } from './types.ts'

interface EngineChanges {
  readonly now: number
  readonly structure: Structure
  /** The rows of the incidents before. */
  readonly rows: ReadonlyMap<number, IncidentRow>
  readonly updates: readonly IncidentUpdate[]
  readonly findings: readonly Finding[]
  /** Findings whose rows differ. */
  readonly changed: readonly Finding[]
  readonly ended: readonly Finding[]
  /** The end of the settle time of the last restart that was judged in this run. */
  readonly judgedUntil: number | undefined
}

interface AppliedChanges {
  /** All findings, with the incidents that they are in. */
  readonly findings: readonly Finding[]
  /** The events to publish after the commit. */
  readonly events: readonly EventDraft[]
  readonly opened: readonly EngineIncident[]
}

export async function applyUpdates(tx: TelemetryTx, changes: EngineChanges): Promise<AppliedChanges> {
  const { now, structure, rows, updates, findings, changed, ended } = changes
  const ids = new Map<number, number>()
  for (const { before, after } of updates) ids.set(after.id, before ? after.id : await nextId(tx, 'incident'))
  const incidentOf = new Map<string, number>()
  const messages: MessageDraft[] = []
  const grown: GrownUpdate[] = []
  const events: EventDraft[] = []
  for (const update of updates) {
    const id = ids.get(update.after.id) as number
    const row = rowOf(update.after, id, ids, rows.get(id), now)
    if (update.before) await updateEngineIncident(tx, row)
    else await insertIncident(tx, row)
    for (const finding of update.joined) incidentOf.set(findingKey(finding), id)
    const previousAudience = await readPreviousAudience(tx, update, id)
    const subjects = update.joinedSubjects.map((affected) => subjectOf(structure, affected, id))
    await upsertSubjects(tx, subjects)
    const left = update.leftSubjects.map((subject) => subject.id)
    if (left.length > 0) await endSubjects(tx, { incident: id, ids: left, at: now })
    for (const kind of update.timeline) {
      await insertTimelineEntry(tx, { incident: id, at: now, kind, ...noActor, text: null })
    }
    const all = await listSubjects(tx, { incidents: [id] })
    messages.push(...(await messagesOf(tx, update, { row, subjects: all, now, previousAudience })))
    if (isAnnouncedGrowth(update)) grown.push({ row, subjects: all })
    // The hours of a channel and a digest hold what is not critical.
    const becameCritical = row.severity === 'CRITICAL' && update.before && update.before.severity !== 'CRITICAL'
    if (becameCritical) await reconsiderIncident(tx, id, now)
    events.push(...eventsOf(row, update, all))
  }
  const grouped = findings.map((finding) => withIncident(finding, incidentOf))
  const changedKeys = new Set([...changed.map(findingKey), ...incidentOf.keys()])
  await upsertFindings(tx, grouped.filter((finding) => changedKeys.has(findingKey(finding))).map(findingRow))
  await deleteFindings(tx, ended.map(findingRow))
  if (changes.judgedUntil !== undefined) await upsertJudgedUntil(tx, { judgedUntil: changes.judgedUntil })
  await queueMessages(tx, messages)
  for (const { row, subjects } of grown) {
    const size = subjects.filter(({ ended_at }) => ended_at === null).length
    await queueGrowth(tx, { incidentId: row.id, size }, async () =>
      incidentMessage('incident.changed', row, subjects, await readMessageContext(tx, row, subjects, now)),
    )
  }
  return { findings: grouped, events, opened: updates.filter(({ before }) => !before).map(({ after }) => after) }
}

interface GrownUpdate {
  readonly row: IncidentRow
  readonly subjects: readonly SubjectRow[]
}

/** Whether subjects joined an existing incident about which messages are sent. */
const isAnnouncedGrowth = ({ before, after, joined, isSilenced }: IncidentUpdate): boolean =>
  before !== undefined && joined.length > 0 && !isSilenced && !after.flapping && isOpenState(after.state)

const noActor = { actor_type: null, actor_id: null, actor_name: null, user_id: null }

function withIncident(finding: Finding, incidentOf: ReadonlyMap<string, number>): Finding {
  const incidentId = incidentOf.get(findingKey(finding))
  return incidentId === undefined ? finding : { ...finding, incidentId }
}

interface ChangedIncident {
  readonly row: IncidentRow
  /** All subjects of the incident, also those that are no longer affected. */
  readonly subjects: readonly SubjectRow[]
  readonly now: number
  /** The places and the severity by which channels were chosen before; undefined if no further channel can want the incident now. */
  readonly previousAudience: MessageDraft['previousAudience']
}

async function messagesOf(
  tx: TelemetryTx,
  { messages, isSilenced, after }: IncidentUpdate,
  { row, subjects, now, previousAudience }: ChangedIncident,
): Promise<MessageDraft[]> {
  // An incident that reopens has that message for all channels.
  const isQuiet = isSilenced || after.flapping || messages.includes('incident.reopened')
  const reachesNewChannels = previousAudience !== undefined && !isQuiet && isOpenState(row.state)
  if (messages.length === 0 && !reachesNewChannels) return []
  const context = await readMessageContext(tx, row, subjects, now)
  const drafts = messages.map((type) => incidentMessage(type, row, subjects, context))
  if (!reachesNewChannels) return drafts
  return [{ ...incidentMessage('incident.opened', row, subjects, context), previousAudience }, ...drafts]
}

/** An incident that spreads to other places, or becomes worse, may match the filters of further channels. These get it as opened. */
async function readPreviousAudience(
  tx: TelemetryTx,
  { before, after, joined }: IncidentUpdate,
  incident: number,
): Promise<MessageDraft['previousAudience']> {
  if (!before || (joined.length === 0 && before.severity === after.severity)) return undefined
  if (!(await areMessagesWanted(tx, ['incident.opened']))) return undefined
  const severity = before.detail.worstSeverity ?? before.severity
  return { severity, ...placesOf(await listSubjects(tx, { incidents: [incident] })) }
}

/** If only some subjects joined or left, the events are about these. */
function eventsOf(row: IncidentRow, update: IncidentUpdate, subjects: readonly SubjectRow[]): EventDraft[] {
  const joined = update.joinedSubjects.map(({ subject }) => subject)
  const changed = new Set([...joined, ...update.leftSubjects].map(({ id }) => id))
  const isWhole = update.timeline.length > 0 || changed.size === 0
  const concerned = isWhole ? subjects : subjects.filter(({ subject_id }) => changed.has(subject_id))
  return incidentEvents(row, concerned)
}

// Carries out what people do about an incident: acknowledge, resolve, comment, assign and snooze. [contract 10.states]

import { dayMs } from '../../contract/durations.ts'
import { maxSnoozeDays } from '../../contract/incidents/limits.ts'
import { permissionsOfRole, type Role } from '../../contract/people/permissions.ts'
import { parseTime } from '../../contract/time.ts'
import { oneLine } from '../../contract/words.ts'
import type { InputOf } from '../context/handlers.ts'
import type { RequestContext } from '../context/request-context.ts'
import { isoTime } from '../core/clock.ts'
import { Failure, invalid } from '../core/failure.ts'
import { parseInt32 } from '../core/int32.ts'
import { RegionAccess } from '../core/region-access.ts'
import type { Tx } from '../db/handles.ts'
import { listRegions } from '../fleet/regions/store.ts'
import { findUser, listRegionsOfUser } from '../people/users/store.ts'
import { type ActionContext, requireOpenAndVisible, runIncidentAction } from './incident-change.ts'
import type { MessageRecipient } from './incident-message.ts'

export const incidentsAcknowledge = (
  ctx: RequestContext,
  incidentId: string,
  { acknowledged = true, note }: InputOf<'incidentsAcknowledge'>['body'],
) =>
  runIncidentAction(ctx, 'incidentsAcknowledge', incidentId, async (input) => {
    requireOpenAndVisible(input, acknowledged ? 'acknowledged' : 'unacknowledged')
    const { incident, now } = input
    if (acknowledged && incident.acknowledged_by !== null) {
      const { name } = JSON.parse(incident.acknowledged_by)
      throw new Failure(
        'FAILED_PRECONDITION',
        `incident ${incident.id} was already acknowledged by ${name}. Nothing was changed.`,
      )
    }
    if (!acknowledged && incident.state === 'OPEN') {
      throw new Failure('FAILED_PRECONDITION', `incident ${incident.id} is not acknowledged. Nothing was changed.`)
    }
    const { type, id, name } = ctx.actor
    const state = acknowledged ? 'ACKNOWLEDGED' : 'OPEN'
    return {
      changes: {
        state,
        acknowledged_by: acknowledged ? JSON.stringify({ type, id, name }) : null,
        ...(acknowledged && { acknowledged_at: incident.acknowledged_at ?? now }),
      },
      kind: acknowledged ? 'ACKNOWLEDGED' : 'UNACKNOWLEDGED',
      text: note,
      message: acknowledged ? 'incident.acknowledged' : 'incident.changed',
      before: { state: incident.state },
      after: { state, ...(note !== undefined && { note }) },
      undone: !acknowledged,
    }
  })

/** The time at which the cause ended stays empty, so that the engine knows that the cause lasts. */
export const incidentsResolve = (
  ctx: RequestContext,
  incidentId: string,
  { note }: InputOf<'incidentsResolve'>['body'],
) =>
  runIncidentAction(ctx, 'incidentsResolve', incidentId, async (input) => {
    requireOpenAndVisible(input, 'resolved')
    return {
      changes: { state: 'RESOLVED', resolved_at: input.now, snoozed_until: null, snoozed_until_cleared: 0 },
      kind: 'RESOLVED',
      text: note,
      message: 'incident.resolved',
      before: { state: input.incident.state },
      after: { state: 'RESOLVED', note },
    }
  })

export const incidentsComment = (
  ctx: RequestContext,
  incidentId: string,
  { text }: InputOf<'incidentsComment'>['body'],
) =>
  runIncidentAction(ctx, 'incidentsComment', incidentId, async () => ({
    changes: {},
    kind: 'COMMENT',
    text,
    message: 'incident.changed',
    before: {},
    after: { text },
  }))

export const incidentsAssign = (
  ctx: RequestContext,
  incidentId: string,
  { userId }: InputOf<'incidentsAssign'>['body'],
) =>
  runIncidentAction(ctx, 'incidentsAssign', incidentId, async (input) => {
    requireOpenAndVisible(input, 'assigned')
    const assignee = userId === null ? undefined : await requireAssignee(input, userId)
    const { assignee_id } = input.incident
    const isNews = assignee && assignee.id !== assignee_id && assignee.id !== ctx.user?.id
    return {
      changes: { assignee_id: assignee?.id ?? null },
      kind: assignee ? 'ASSIGNED' : 'UNASSIGNED',
      about: assignee?.id,
      message: 'incident.changed',
      ...(isNews && { told: assignee }),
      before: { assigneeId: assignee_id === null ? null : String(assignee_id) },
      after: { assigneeId: userId },
      undone: !assignee,
    }
  })

/** An assignee must be able to do something about the incident: to operate, and to see all that is affected. */
async function requireAssignee({ tx, subjects }: ActionContext, userId: string): Promise<MessageRecipient> {
  const id = parseInt32(userId)
  const user = id === undefined ? undefined : await findUser(tx, { id })
  if (!user) {
    throw new Failure(
      'FAILED_PRECONDITION',
      `there is no user ${userId}. Choose another one, or send null to unassign.`,
    )
  }
  const name = oneLine(user.name ?? user.email)
  if (user.state === 'DISABLED') throw new Failure('FAILED_PRECONDITION', `${name} is disabled. Choose another person.`)
  const seesAll = user.role === 'owner' || user.all_regions === 1
  if (!permissionsOfRole(user.role as Role, seesAll).operate) {
    throw new Failure('FAILED_PRECONDITION', `${name} can view incidents, but not work on them. Choose another person.`)
  }
  const access = seesAll ? RegionAccess.everything : RegionAccess.of(await listRegionsOfUser(tx, user.id))
  const hidden = subjects.filter(({ ended_at, region_id }) => ended_at === null && !access.sees(region_id))
  if (hidden.length > 0) {
    const places = await namesOfRegions(tx, new Set(hidden.map(({ region_id }) => region_id)))
    throw new Failure('FAILED_PRECONDITION', `${name} has no access to ${places}. Choose another person.`)
  }
  return { id: user.id, address: user.email, access }
}

/** The caller sees these regions. Without a region, a thing is visible only to people who see everything. */
async function namesOfRegions(tx: Tx, ids: ReadonlySet<number | null>): Promise<string> {
  if (ids.has(null)) return 'the whole organisation'
  return (await listRegions(tx)).flatMap(({ id, name }) => (ids.has(id) ? oneLine(name) : [])).join(', ')
}

export const incidentsSnooze = (
  ctx: RequestContext,
  incidentId: string,
  { until }: InputOf<'incidentsSnooze'>['body'],
) =>
  runIncidentAction(ctx, 'incidentsSnooze', incidentId, async (input) => {
    const time = until === null || until === 'cleared' ? null : requireSnoozeTime(until, input.now)
    requireOpenAndVisible(input, until === null ? 'woken' : 'snoozed')
    const { snoozed_until, snoozed_until_cleared } = input.incident
    const untilText = time === null ? until : isoTime(time)
    return {
      changes: { snoozed_until: time, snoozed_until_cleared: until === 'cleared' ? 1 : 0 },
      kind: until === null ? 'WOKEN' : 'SNOOZED',
      text: untilText ?? undefined,
      message: 'incident.changed',
      before: {
        snoozedUntil: snoozed_until_cleared === 1 ? 'cleared' : snoozed_until === null ? null : isoTime(snoozed_until),
      },
      after: { snoozedUntil: untilText },
      undone: until === null,
    }
  })

function requireSnoozeTime(text: string, now: number): number {
  const time = parseTime(text)
  if (time === undefined) throw invalid([{ field: 'until', error: 'must be a time, cleared or null' }])
  if (time <= now) throw invalid([{ field: 'until', error: 'must be in the future' }])
  if (time > now + maxSnoozeDays * dayMs)
    throw invalid([{ field: 'until', error: `must be within ${maxSnoozeDays} days` }])
  return time
}

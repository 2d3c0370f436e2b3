// Carries out the operations on silences, one function for each. [contract 10.silence]

import type { Violation } from '../../../contract/error.ts'
import { maxOperatorSilenceMs } from '../../../contract/incidents/limits.ts'
import { isSecurityRule, type RuleId } from '../../../contract/incidents/rule-table.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { parseTime } from '../../../contract/time.ts'
import { permissionDenied } from '../../auth/failures.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { Failure, invalid, mustFind } from '../../core/failure.ts'
import { parseInt32 } from '../../core/int32.ts'
import { isUuid } from '../../core/uuid.ts'
import type { Tx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { endpointRef } from '../../fleet/endpoints/fields.ts'
import { findEndpoint } from '../../fleet/endpoints/store.ts'
import { change } from '../../journal/audit/change.ts'
import { type AuditRef, auditRef } from '../../journal/audit/change-result.ts'
import { isInForce, silenceOf } from './in-force.ts'
import {
  deleteSilence,
  findUnendedSilence,
  insertSilence,
  listUnendedSilences,
  type SilenceRow,
  updateSilenceEnded,
} from './store.ts'
import { findVisible } from './visible-silences.ts'

type Body = InputOf<'silencesCreate'>['body']
type SilenceView = ResponseOf<Operations['silencesCreate']>

/** The engine compares every finding with every silence. */
const maxSilences = 1000

export async function silencesList(ctx: RequestContext) {
  const now = ctx.clock.now()
  const visible = await findVisible(ctx.db, await listUnendedSilences(ctx.db, { now }))
  return { silences: visible.map(({ silence, zones }) => silenceView(silence, zones, now)) }
}

export const silencesCreate = (ctx: RequestContext, body: Body) =>
  change(ctx, 'silencesCreate', async (tx) => {
    const now = ctx.clock.now()
    const { type: author_type, id: author_id, name: author_name } = ctx.actor
    const draft = {
      ...placeOf(body.place),
      ...timesOf(body, now),
      ...(body.weekly && { weekly: weeklyText(body.weekly) }),
    }
    const silence: SilenceRow = {
      weekly: null,
      ...draft,
      id: 0,
      version: 1,
      rules: body.rules ? JSON.stringify([...new Set(body.rules)]) : null,
      reason: body.reason,
      author_type,
      author_id,
      author_name,
    }
    requireRights(ctx, silence)
    const [visible] = await findVisible(tx, [silence])
    if (!visible)
      throw new Failure(
        'FAILED_PRECONDITION',
        `there is no ${placeText(silence)}, or you do not see it. Check the id in place.`,
      )
    if ((await listUnendedSilences(tx, { now })).length >= maxSilences) {
      throw new Failure('FAILED_PRECONDITION', `there are ${maxSilences} silences already. End some of them first.`)
    }
    const created = { ...silence, id: await nextId(tx, 'silence') }
    await insertSilence(tx, created)
    return {
      result: new VersionedAnswer(1, silenceView(created, visible.zones, now)),
      target: auditRef('silence', { id: created.id, name: created.reason }),
      after: auditedSilence(created),
      affected: await endpointsOf(tx, created),
    }
  })

export const silencesDelete = (ctx: RequestContext, silenceId: string) =>
  change(ctx, 'silencesDelete', async (tx) => {
    const id = parseInt32(silenceId)
    const found = id === undefined ? undefined : await findUnendedSilence(tx, { id, now: ctx.clock.now() })
    const [visible] = await findVisible(tx, found ? [found] : [])
    const { silence } = mustFind(visible, `silence ${silenceId}`)
    checkIfMatch(ctx, silence.version)
    requireRights(ctx, silence)
    const at = ctx.clock.now()
    if (silence.since < at) await updateSilenceEnded(tx, { id: silence.id, at })
    else await deleteSilence(tx, { id: silence.id })
    return {
      result: {},
      target: auditRef('silence', { id: silence.id, name: silence.reason }),
      before: auditedSilence(silence),
      affected: await endpointsOf(tx, silence),
    }
  })

/** The rights that a silence needs beside operate, when it is made and when it is ended. */
function requireRights(ctx: RequestContext, { place_type, since, until, rules, weekly }: SilenceRow): void {
  const isLong = weekly !== null || until === null || until - since > maxOperatorSilenceMs
  if (isLong && !ctx.may('write')) {
    throw permissionDenied(ctx, 'write', undefined, ', which silences longer than 24 hours and weekly silences need')
  }
  if (place_type === 'all' && !ctx.may('everywhere')) {
    throw permissionDenied(ctx, 'everywhere', undefined, ', which a silence of the whole organisation needs')
  }
  if (rules !== null && (JSON.parse(rules) as RuleId[]).some(isSecurityRule) && !ctx.may('manage')) {
    throw permissionDenied(ctx, 'manage', undefined, ', which a silence of a rule about security needs')
  }
}

function placeOf(place: Body['place']): Pick<SilenceRow, 'place_type' | 'place_id'> {
  const named = Object.entries(place).filter(([, id]) => id !== undefined)
  const [first] = named
  if (!first || named.length > 1) {
    throw invalid([
      { field: 'place', error: 'must have exactly one of regionId, locationId, roomId, endpointId and all' },
    ])
  }
  const [key, id] = first
  if (key === 'all') return { place_type: 'all', place_id: '' }
  if (key === 'endpointId' && !isUuid(String(id))) {
    throw invalid([{ field: 'place.endpointId', error: 'must be the id of an endpoint' }])
  }
  return { place_type: key.slice(0, -'Id'.length) as SilenceRow['place_type'], place_id: String(id) }
}

function timesOf({ from, to, weekly }: Body, now: number): Pick<SilenceRow, 'since' | 'until'> {
  const since = from === undefined ? now : (parseTime(from) ?? now)
  const until = to === undefined ? null : (parseTime(to) ?? null)
  const violations: Violation[] = []
  if (until === null && !weekly) violations.push({ field: 'to', error: 'is required unless the silence is weekly' })
  if (until !== null && until <= since) violations.push({ field: 'to', error: 'must be after from' })
  else if (until !== null && until <= now) violations.push({ field: 'to', error: 'must be in the future' })
  if (violations.length > 0) throw invalid(violations)
  return { since, until }
}

const weeklyText = ({ days, from, to }: NonNullable<Body['weekly']>): string =>
  JSON.stringify({ days: [...new Set(days)], from, to })

const placeText = ({ place_type, place_id }: SilenceRow): string => `${place_type} ${place_id}`

function placeView({ place_type, place_id }: SilenceRow): SilenceView['place'] {
  if (place_type === 'all') return { all: true }
  return place_type === 'endpoint' ? { endpointId: place_id } : { [`${place_type}Id`]: Number(place_id) }
}

function silenceView(row: SilenceRow, zones: readonly string[], now: number): SilenceView {
  return {
    id: String(row.id),
    place: placeView(row),
    ...scheduleView(row),
    // The hours of a place with several time zones begin at several times.
    active: zones.some((zone) => isInForce(silenceOf(row), zone, now)),
    createdBy: { type: row.author_type, id: row.author_id, name: row.author_name },
  }
}

const scheduleView = ({ rules, reason, since, until, weekly }: SilenceRow) => ({
  ...(rules !== null && { rules: JSON.parse(rules) }),
  reason,
  from: isoTime(since),
  ...(until !== null && { to: isoTime(until) }),
  ...(weekly !== null && { weekly: JSON.parse(weekly) }),
})

/** The ids of places are at the top, where the audit log looks for them. */
const auditedSilence = (row: SilenceRow) => ({ ...placeView(row), ...scheduleView(row) })

/** The audit log finds the place of an endpoint by its id, which `affected` has. */
async function endpointsOf(tx: Tx, { place_type, place_id }: SilenceRow): Promise<AuditRef[]> {
  const endpoint = place_type === 'endpoint' ? await findEndpoint(tx, { id: place_id }) : undefined
  return endpoint ? [endpointRef(endpoint)] : []
}

// Creates organisations, for the first start and the command line, and carries out the operations on the caller's own. [contract 6.orgs]

import type { Static } from 'typebox'
import type { Violation } from '../../../contract/error.ts'
import {
  type AirLimit,
  type AirLimits,
  defaultAirLimits,
  defaultAvailabilityTarget,
  defaultIgnoreUnderMinutes,
  type OwnOrganisation,
} from '../../../contract/journal/orgs.ts'
import { type WeeklyHours, weekdays } from '../../../contract/weekly-hours.ts'
import { randomText } from '../../auth/token.ts'
import type { Org } from '../../auth/token-holder.ts'
import { airLimitsText, parseAirLimits } from '../../config/air-limits.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import { type Actor, type RequestContext, unrestrictedContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { invalid, mustFind, StartupError } from '../../core/failure.ts'
import { nameProblem } from '../../core/text.ts'
import { timeZoneProblem } from '../../core/time/time-zone.ts'
import type { OrgReader } from '../../db/handles.ts'
import { change, changeNewOrg } from '../audit/change.ts'
import { auditRef } from '../audit/change-result.ts'
import { listSettings } from '../settings/store.ts'
import { findOrg, findOwnOrg, insertOrg, type OrgValues, updateOrg } from './store.ts'

/** An organisation's id has seven URL-safe characters, such as LXJ45kN. [contract 1.5] */
const makeOrgId = () => randomText(7)

/** The new organisation gets the air limits that the setting air-limits has now. [contract 5.4.settings] */
export const orgCreate = (services: Services, actor: Actor, name: string, timezone = 'UTC'): Promise<Org> =>
  changeNewOrg(services, actor, async (tx) => {
    const problem = nameProblem(name)
    if (problem) throw new StartupError(`The name of an organisation ${problem}.`)
    requireTimeZone(timezone)
    const [setting] = await listSettings(tx, { names: ['air-limits'] })
    const org = {
      id: makeOrgId(),
      name: name.trim(),
      timezone,
      air_limits: setting?.value ?? airLimitsText(defaultAirLimits),
      working_hours: null,
      availability_target: storedTarget(defaultAvailabilityTarget),
      ignore_under_minutes: defaultIgnoreUnderMinutes,
    }
    const key = await insertOrg(tx, { ...org, created_at: services.clock.now() })
    const { id, ...after } = orgView(org)
    return { result: { key, id }, target: auditRef('organisation', org), after }
  })

export async function orgsGet(ctx: RequestContext) {
  const org = await requireOwnOrg(ctx.db)
  return new VersionedAnswer(org.version, orgView(org))
}

/** Existing daily history is recomputed in the background for a new time zone. [contract 6.sensorHistory] */
export const orgsUpdate = (ctx: RequestContext, body: InputOf<'orgsUpdate'>['body']) =>
  change(ctx, 'orgsUpdate', async (tx) => {
    const org = await requireOwnOrg(tx)
    checkIfMatch(ctx, org.version)
    refuseBadValues(body)
    const before = orgView(org)
    const { workingHours: hoursBefore, ...others } = before
    const workingHours = body.workingHours === undefined ? hoursBefore : inWeekOrder(body.workingHours)
    const after = {
      ...others,
      ...(body.name !== undefined && { name: body.name }),
      ...(body.timezone !== undefined && { timezone: body.timezone }),
      airLimits: { ...before.airLimits, ...body.airLimits },
      ...(workingHours && { workingHours }),
      availabilityTarget: body.availabilityTarget ?? before.availabilityTarget,
      ignoreUnderMinutes: body.ignoreUnderMinutes ?? before.ignoreUnderMinutes,
    }
    const version = org.version + 1
    await updateOrg(tx, {
      version,
      name: after.name,
      timezone: after.timezone,
      air_limits: airLimitsText(after.airLimits),
      working_hours: workingHours ? JSON.stringify(workingHours) : null,
      availability_target: storedTarget(after.availabilityTarget),
      ignore_under_minutes: after.ignoreUnderMinutes,
    })
    return {
      result: new VersionedAnswer(version, after),
      target: auditRef('organisation', after),
      before: valuesNamedIn(body, before),
      after: valuesNamedIn(body, after),
    }
  })

/** Sets the time zone for the command line. */
export async function orgTimezone(ctx: RequestContext, timezone: string): Promise<void> {
  requireTimeZone(timezone)
  await orgsUpdate(ctx, { timezone })
}

function requireTimeZone(timezone: string): void {
  const problem = timeZoneProblem(timezone)
  if (problem) throw new StartupError(`The time zone of an organisation ${problem}.`)
}

export async function commandLineActor(services: Services, actor: Actor, orgId: string): Promise<RequestContext> {
  const org = await findOrg(services.db.system, { id: orgId })
  if (!org) throw new StartupError(`There is no organisation ${orgId}. See "org list".`)
  return unrestrictedContext(services, { key: org.key, id: org.id }, actor)
}

const requireOwnOrg = async (on: OrgReader) => mustFind(await findOwnOrg(on), 'the organisation')

const orgView = ({
  id,
  name,
  timezone,
  air_limits,
  working_hours,
  availability_target,
  ignore_under_minutes,
}: OrgValues & { readonly id: string }): Static<typeof OwnOrganisation> => ({
  id,
  name,
  timezone,
  airLimits: parseAirLimits(air_limits),
  ...(working_hours !== null && { workingHours: JSON.parse(working_hours) }),
  availabilityTarget: availability_target / 1000,
  ignoreUnderMinutes: ignore_under_minutes,
})

/** In thousandths of a percent. */
const storedTarget = (target: number): number => Math.round(target * 1000)

/** The days are stored once each, in the order of the week. */
const inWeekOrder = (hours: WeeklyHours | null): WeeklyHours | undefined =>
  hours === null ? undefined : { ...hours, days: weekdays.filter((day) => hours.days.includes(day)) }

/** The audit entry has the values that the request names. */
const valuesNamedIn = (body: object, { id: _, ...values }: Partial<Static<typeof OwnOrganisation>>) =>
  Object.fromEntries(Object.keys(body).map((name) => [name, values[name as keyof typeof values] ?? null]))

function refuseBadValues({
  timezone,
  airLimits = {},
  availabilityTarget: target = 0,
}: InputOf<'orgsUpdate'>['body']): void {
  const zoneProblem = timezone === undefined ? undefined : timeZoneProblem(timezone)
  const violations = [
    ...(zoneProblem === undefined ? [] : [{ field: 'timezone', error: zoneProblem }]),
    ...(Number(target.toFixed(3)) === target
      ? []
      : [{ field: 'availabilityTarget', error: 'must have at most three decimal places' }]),
    ...(Object.keys(airLimits) as (keyof AirLimits)[]).flatMap((sensor) =>
      limitProblems(`airLimits.${sensor}`, airLimits[sensor] ?? {}),
    ),
  ]
  if (violations.length > 0) throw invalid(violations)
}

function limitProblems(field: string, { min, max }: AirLimit): Violation[] {
  const isFine = (value: number | undefined) => value === undefined || Number(value.toFixed(2)) === value
  return [
    ...(isFine(min) ? [] : [{ field: `${field}.min`, error: 'must have at most two decimal places' }]),
    ...(isFine(max) ? [] : [{ field: `${field}.max`, error: 'must have at most two decimal places' }]),
    ...(min === undefined || max === undefined || min < max ? [] : [{ field, error: 'must have a min below its max' }]),
  ]
}

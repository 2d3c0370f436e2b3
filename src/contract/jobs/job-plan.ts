// The answer of jobsPlan: what a job would do, before anything is done. [contract 12.plan]

import Type from 'typebox'
import { Int32, OneOf, Shape, Timestamp } from '../shape.ts'

const Value = Type.Unsafe<boolean | number | string>({ type: ['boolean', 'number', 'string'] })

export const plannedOutcomes = ['now', 'later', 'waits', 'skipped', 'unchanged'] as const

const outcome = OneOf(
  plannedOutcomes,
  'now, later (in a later stage, or at `startAt`), waits (for a window, idle rooms or a connection), skipped (with `skipConflicts`; without it the job is refused), or unchanged.',
)
const reason = Type.Optional(Type.String({ description: 'Reason why the unit would wait or be skipped.' }))

export const JobPlan = Shape('JobPlan', {
  unitCount: Int32('How many units the job would have.'),
  endpointCount: Int32('How many endpoints these units have.'),
  unableCount: Int32('How many matching endpoints are left out because their devices cannot do the action.'),
  emptyRoomCount: Int32('How many rooms match the target and have no endpoint. The job does nothing in these rooms.'),
  offlineCount: Int32('How many of the endpoints are not connected.'),
  blindCount: Int32('How many units have no device that reports calls or counts people; they count as idle.'),
  notSupportingCount: Int32(
    'How many endpoints do not support `onlyIfIdle`; for REBOOT, endpoints that restart together with a targeted one are counted too.',
  ),
  unchangedCount: Int32(
    'How many endpoints the job would not change, because they already have its settings, profile or room.',
  ),
  stages: Type.Array(
    Shape('JobPlanStage', {
      unitCount: Int32('How many units the stage has, without the units of earlier stages.'),
      manual: Type.Boolean({ description: 'Whether the job is paused before the stage.' }),
    }),
  ),
  outcomes: Type.Array(
    Shape('JobPlanOutcome', {
      outcome,
      reason,
      unitCount: Int32('How many units this happens to.'),
      endpointCount: Int32('How many endpoints these units have.'),
    }),
    {
      description:
        'All units by outcome and reason, in the order of the outcomes; of one outcome, the most units first.',
    },
  ),
  conflicts: Type.Array(
    Shape('JobPlanConflict', {
      endpointId: Type.String({ format: 'uuid', description: 'The endpoint.' }),
      roomId: Type.Optional(Int32('The room of the endpoint; absent if it has none.')),
      profileId: Int32('The profile that locks the keys.'),
      keys: Type.Array(Type.String(), { description: 'The keys of the config that the profile locks.' }),
    }),
    { description: 'The first 200 endpoints whose profile locks a key of the config.' },
  ),
  conflictCount: Int32('How many endpoints have a conflict.'),
  present: Type.Record(
    Type.String(),
    Type.Array(
      Shape('JobPlanValue', {
        value: Type.Optional(Value),
        endpointCount: Int32(
          'How many endpoints have this value. In an entry without `value`: how many have no value.',
        ),
      }),
    ),
    { description: 'The values that the endpoints have now, by key of the config. Passwords are masked.' },
  ),
  rooms: Type.Array(
    Shape('JobPlanUnit', {
      roomIds: Type.Array(Int32('Identifier of a room.')),
      name: Type.String({ description: 'The names of the rooms of the unit, with their locations.' }),
      stage: Int32('The stage of the unit, from 1.'),
      endpointCount: Int32('How many endpoints of the unit are targeted.'),
      offlineCount: Int32('How many of these endpoints are not connected.'),
      outcome,
      reason,
    }),
    { description: 'The first 200 units in the order in which they would begin.' },
  ),
  earliestEnd: Timestamp('The earliest time at which the job could end.'),
})

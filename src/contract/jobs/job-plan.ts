// The answer of jobsPlan: what a job would do, before anything is done. [contract 12.plan]

import Type from 'typebox'
import { Int32, OneOf, Shape, Timestamp } from '../shape.ts'

const Value = Type.Unsafe<boolean | number | string>({ type: ['boolean', 'number', 'string'] })

export const plannedOutcomes = ['now', 'waits', 'skipped', 'unchanged'] as const

export const JobPlan = Shape('JobPlan', {
  unitCount: Int32('How many units the job would have.'),
  endpointCount: Int32('How many endpoints they have.'),
  emptyRoomCount: Int32(
    'How many rooms match the target and have no endpoint. They are no units, and nothing is done to them.',
  ),
  offlineCount: Int32('How many of the endpoints are not connected.'),
  blindCount: Int32('How many units cannot know whether their rooms are in use, and count as idle.'),
  notSupportingCount: Int32(
    'How many endpoints do not announce `onlyIfIdle`; for REBOOT also of those that restart with the targeted ones.',
  ),
  unchangedCount: Int32('How many endpoints already have what the job would set.'),
  stages: Type.Array(
    Shape('JobPlanStage', {
      unitCount: Int32('How many units the stage has, without those of earlier stages.'),
      manual: Type.Boolean({ description: 'Whether the job is paused before it.' }),
    }),
  ),
  conflicts: Type.Array(
    Shape('JobPlanConflict', {
      endpointId: Type.String({ format: 'uuid', description: 'The endpoint.' }),
      roomId: Type.Optional(Int32('Its room; absent if it has none.')),
      profileId: Int32('The profile that fixes the keys.'),
      keys: Type.Array(Type.String(), { description: 'The keys of the config that the profile fixes.' }),
    }),
    { description: 'The first 200 endpoints whose profile fixes a key of the config.' },
  ),
  conflictCount: Int32('How many endpoints have a conflict.'),
  present: Type.Record(
    Type.String(),
    Type.Array(
      Shape('JobPlanValue', {
        value: Type.Optional(Value),
        endpointCount: Int32('How many endpoints have this value; without `value`: how many have none.'),
      }),
    ),
    { description: 'By key of the config: the values that the endpoints have now. Passwords are masked.' },
  ),
  rooms: Type.Array(
    Shape('JobPlanUnit', {
      roomIds: Type.Array(Int32('Identifier of a room.')),
      name: Type.String({ description: 'The names of its rooms.' }),
      stage: Int32('The stage of the unit, from 1.'),
      endpointCount: Int32('How many of its endpoints are targeted.'),
      offlineCount: Int32('How many of them are not connected.'),
      outcome: OneOf(
        plannedOutcomes,
        'now, waits (for a window, idle rooms or a connection), skipped (with `skipConflicts`; without it the job is refused), or unchanged.',
      ),
      reason: Type.Optional(Type.String({ description: 'Why it waits or is skipped.' })),
    }),
    { description: 'The first 200 units in the order in which they would begin.' },
  ),
  earliestEnd: Timestamp('The earliest time at which the job could end.'),
})

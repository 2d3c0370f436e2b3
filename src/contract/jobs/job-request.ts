// The request for a job: its target, its action, and how it goes from room to room. [contract 12.job]

import Type from 'typebox'
import { Int32, Name, OneOf, Shape, SingleLineText, Timestamp } from '../shape.ts'
import { actionTypesWith, JobAction } from './action-table.ts'

export const maxTargetEndpoints = 100_000
export const maxStages = 20
/** A job without a deadline expires this many days after its start. */
export const defaultDeadlineDays = 14
/** How many values each list of a target may have. Models and firmware versions are few, and their names may be long. */
export const maxTargetValues = {
  regionIds: 100,
  locationIds: 200,
  roomIds: 1000,
  endpointIds: 500,
  models: 10,
  profileIds: 100,
  firmwareVersions: 10,
  tags: 100,
  timezones: 50,
} as const

export const roomTagPattern = '^[a-z0-9-]{1,40}$'
export const RoomTag = Type.String({ pattern: roomTagPattern, description: 'A tag: a-z, 0-9 and hyphens.' })
const listOf = <S extends Type.TSchema>(key: keyof typeof maxTargetValues, item: S, description: string) =>
  Type.Optional(Type.Array(item, { minItems: 1, maxItems: maxTargetValues[key], description }))
const endpointId = Type.String({ format: 'uuid', description: 'Identifier of an endpoint.' })
const firmwareVersion = SingleLineText(64, 'A firmware version.')

const targetFields = {
  regionIds: listOf('regionIds', Int32('Identifier of a region.'), 'Endpoints in these regions.'),
  locationIds: listOf('locationIds', Int32('Identifier of a location.'), 'Endpoints in these locations.'),
  roomIds: listOf('roomIds', Int32('Identifier of a room.'), 'Endpoints in these rooms.'),
  endpointIds: listOf('endpointIds', endpointId, 'These endpoints.'),
  models: listOf('models', SingleLineText(64, 'Code of a model.'), 'Endpoints of these models.'),
  profileIds: listOf('profileIds', Int32('Identifier of a profile.'), 'Endpoints with these profiles.'),
  firmwareVersions: listOf('firmwareVersions', firmwareVersion, 'Endpoints with these firmware versions.'),
  tags: listOf('tags', RoomTag, 'Endpoints in rooms with one of these tags.'),
  timezones: listOf(
    'timezones',
    Type.String({ pattern: '^[A-Za-z0-9_+:/-]{1,40}$', description: 'Name of a time zone.' }),
    'Endpoints in locations with these time zones. The rest has the time zone of the organisation.',
  ),
}
/** A key with a typing error would widen the target, or let a job disturb people, so unknown keys are refused. */
const closed = { additionalProperties: false }
const TargetKeys = Shape('JobTargetKeys', targetFields, closed)
export const JobTarget = Shape(
  'JobTarget',
  {
    ...targetFields,
    all: Type.Optional(
      Type.Literal(true, { description: 'All endpoints. No other key is allowed beside it, except `exclude`.' }),
    ),
    exclude: Type.Optional(TargetKeys),
  },
  closed,
)

export const JobStage = Shape(
  'JobStage',
  {
    rooms: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxTargetEndpoints,
        description: 'Number of units at the end of this stage, including earlier stages.',
      }),
    ),
    percent: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 100,
        description: 'Percentage of all units at the end of this stage, including earlier stages.',
      }),
    ),
    tags: Type.Optional(
      Type.Array(RoomTag, {
        minItems: 1,
        maxItems: 20,
        description: 'The units that have a room with one of these tags.',
      }),
    ),
    manual: Type.Optional(
      Type.Boolean({ description: 'Whether the job is paused before this stage, until jobsResume.' }),
    ),
  },
  closed,
)

const minutes = (maximum: number, description: string) => Type.Integer({ minimum: 0, maximum, description })
export const onFailureSteps = ['rollBack', 'pause'] as const

export const jobRequestFields = {
  name: Name('job'),
  target: JobTarget,
  action: JobAction,
  stages: Type.Optional(
    Type.Array(JobStage, {
      minItems: 1,
      maxItems: maxStages,
      description: 'The stages. Each must be larger than the one before, and the last one must be 100 percent.',
    }),
  ),
  soakMinutes: Type.Optional(
    minutes(10_080, 'How many minutes each unit is watched after its change; default 30 if there are stages.'),
  ),
  failures: Type.Optional(
    Shape(
      'JobFailures',
      {
        percent: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: 100,
            description:
              'The job stops if more than this percentage of the units that have begun failed, and at least `atLeast` units; default 5.',
          }),
        ),
        atLeast: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: maxTargetEndpoints,
            description: 'The job stops only if at least this number of units failed; default 1.',
          }),
        ),
      },
      closed,
    ),
  ),
  onFailure: Type.Optional(
    OneOf(
      onFailureSteps,
      `The reaction when too many units failed; rollBack for ${actionTypesWith(({ rollback }) => rollback?.isAutomatic === true)} only.`,
    ),
  ),
  respect: Type.Optional(
    Shape(
      'JobRespect',
      {
        window: Type.Optional(
          Type.Boolean({ description: 'Whether units wait for the change window of their location.' }),
        ),
        idle: Type.Optional(Type.Boolean({ description: 'Whether units wait until their rooms are idle.' })),
      },
      closed,
    ),
  ),
  pace: Type.Optional(
    Shape(
      'JobPace',
      {
        atOnce: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 10_000,
            description: 'How many units run at the same time; default 50.',
          }),
        ),
        atOncePerLocation: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 10_000,
            description: 'How many units run at the same time in one location; default 5.',
          }),
        ),
      },
      closed,
    ),
  ),
  skipConflicts: Type.Optional(
    Type.Boolean({
      description: 'Whether units whose profile locks a key of the config are skipped. Otherwise the job is refused.',
    }),
  ),
  includeNew: Type.Optional(
    Type.Boolean({ description: 'Whether endpoints that match the target later become part of the running job.' }),
  ),
  startAt: Type.Optional(
    Type.Union([
      Timestamp('Time at which the job starts; null or absent means as soon as a caller starts it.'),
      Type.Null(),
    ]),
  ),
  deadline: Type.Optional(Timestamp('Units that have not begun at this time expire; default 14 days after the start.')),
}
export const JobRequest = Shape('JobRequest', jobRequestFields, closed)
export const JobsCreateRequest = Shape(
  'JobsCreateRequest',
  {
    ...jobRequestFields,
    start: Type.Optional(
      Type.Boolean({
        description: 'Whether the job is started, or scheduled for `startAt`; default false, which creates a draft.',
      }),
    ),
  },
  closed,
)

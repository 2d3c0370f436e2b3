// Jobs: one change to many endpoints, all together or in stages. [contract 12.job]

import Type from 'typebox'
import { csvList } from '../csv-list.ts'
import { exampleEndpointId } from '../fleet/endpoints.ts'
import { jobBodyBytes, mediumBodyBytes, operation } from '../operation.ts'
import { Bom, Int32, maxNameLength, OneOf, Shape, Timestamp } from '../shape.ts'
import { actionTypesWith, JobAction } from './action-table.ts'
import { exampleJob, exampleJobRequest as request, exampleWholeJob as whole } from './job-example.ts'
import { JobPlan } from './job-plan.ts'
import { JobRequest, JobsCreateRequest, jobRequestFields } from './job-request.ts'
import { jobStates, unitStates } from './job-states.ts'

const id = Type.String({ description: 'Identifier of the job, a decimal number.' })
const countsByState = Type.Partial(
  Type.Object(Object.fromEntries(unitStates.map((state) => [state, Int32(`How many units are ${state}.`)]))),
  { title: 'JobCounts', description: 'Units by state; a state without units is left out.' },
)

const { name, target, ...settings } = jobRequestFields
const fields = {
  id,
  name,
  state: OneOf(jobStates, 'State of the job.'),
  reason: Type.Optional(Type.String({ description: 'Reason why the job is paused, stopped or incomplete.' })),
  action: JobAction,
  createdAt: Timestamp('Time at which the job was created.'),
  startedAt: Type.Optional(Timestamp('Start time.')),
  endedAt: Type.Optional(Timestamp('Time at which the job reached its final state.')),
  startedBy: Shape('JobActor', { type: Type.String(), id: Type.String(), name: Type.String() }),
  attempt: Int32('Number of the attempt: 1 at first; jobsRetry raises it.'),
  stage: Int32('Number of the current stage, from 1; 0 before the start.'),
  stageCount: Int32('How many stages the job has.'),
  unitCount: Int32('How many units the job has.'),
  endpointCount: Int32('How many endpoints the job has.'),
  counts: countsByState,
  failedCount: Int32(
    'How many units have failed, including those that were rolled back since. A retry starts again from 0.',
  ),
  canRollBack: Type.Boolean({ description: 'Whether a rollback can begin.' }),
  recurringJobId: Type.Optional(
    Type.String({ description: 'The recurring job of which this job is a run. It may have been deleted since.' }),
  ),
  rollsBackNow: Type.Optional(
    Type.Literal(true, { description: 'Present during a rollback that ignores windows, idle rooms and pace.' }),
  ),
}
export const Job = Shape('Job', fields)

export const JobWithStages = Shape('JobWithStages', {
  ...fields,
  target,
  ...settings,
  stageCounts: Type.Array(
    Shape('JobStageCounts', {
      unitCount: Int32('How many units the stage has.'),
      counts: countsByState,
      startedAt: Type.Optional(Timestamp('Start time.')),
    }),
    { description: 'Units by state, for each stage.' },
  ),
  waiting: Type.Record(Type.String(), Int32('How many units wait for this reason.'), {
    description: 'Units that wait, by reason: window, idle, connection, pace, other job.',
  }),
})

const Unit = Shape('JobUnit', {
  number: Int32('Position of the unit in the order of the job, from 1.'),
  roomIds: Type.Array(Int32('Identifier of a room.')),
  name: Type.String({ description: 'The names of the rooms of the unit, with their locations.' }),
  stage: Int32('Number of the stage of the unit, from 1.'),
  state: OneOf(unitStates, 'State of the unit.'),
  reason: Type.Optional(
    Type.String({ description: 'Reason why the unit waits, failed, was skipped or was not rolled back.' }),
  ),
  failure: Type.Optional(
    Type.String({
      description: 'Reason why the unit failed. A rollback keeps it, and a retry of the unit removes it.',
    }),
  ),
  beganAt: Type.Optional(Timestamp('Time at which the unit began.')),
  soaksUntil: Type.Optional(Timestamp('Time until which the unit is watched for failures.')),
  endedAt: Type.Optional(Timestamp('Time at which the unit ended.')),
  endpoints: Type.Array(
    Shape('JobUnitEndpoint', {
      endpointId: Type.String({ format: 'uuid', description: 'The endpoint.' }),
      name: Type.String({
        description:
          'Name of the endpoint when the job was created; without one, its model with the end of its serial number.',
      }),
      state: OneOf(
        ['PENDING', 'SENT', 'DONE', 'FAILED', 'SKIPPED', 'ROLLED_BACK', 'KEPT'],
        'State of the endpoint in the job. SKIPPED: the endpoint was offline when the other endpoints of its unit got a message or were asked for logs.',
      ),
      versionBefore: Type.Optional(Int32('Config version of the endpoint before the job.')),
      versionAfter: Type.Optional(Int32('The config version that the job made.')),
      operationId: Type.Optional(Type.String({ format: 'uuid', description: 'The operation that the job started.' })),
      error: Type.Optional(Type.String({ description: 'Reason why the endpoint failed or was not rolled back.' })),
    }),
  ),
})

const paging = {
  pageSize: Int32('Entries per page: 0 or absent means 100, more than 1000 means 1000.'),
  pageToken: Type.String({ description: 'The `nextPageToken` of the page before.' }),
}
const nextPageToken = Type.String({ description: 'Token of the next page; empty on the last page.' })

/** The caller needs what the action needs, write or operate. */
const needs = { tag: 'Jobs', scope: 'write', operate: true } as const
const needsText = `${actionTypesWith(({ needs }) => needs === 'write')} need write.`
const steps = {
  ...needs,
  method: 'POST',
  params: { id },
  response: JobWithStages,
  versioned: true,
  ifMatch: true,
} as const
const stepExample = { params: { id: '5' }, response: whole }

export const jobOperations = {
  jobsPlan: operation({
    method: 'POST',
    path: '/jobs/plan',
    tag: 'Jobs',
    scope: 'read',
    reads: true,
    summary: 'Preview a job without starting it',
    body: JobRequest,
    bodyLimitBytes: jobBodyBytes,
    response: JobPlan,
    example: {
      body: request,
      response: {
        unitCount: 24,
        endpointCount: 64,
        unableCount: 0,
        emptyRoomCount: 0,
        offlineCount: 3,
        blindCount: 2,
        notSupportingCount: 0,
        unchangedCount: 10,
        stages: [
          { unitCount: 1, manual: false },
          { unitCount: 23, manual: false },
        ],
        outcomes: [
          { outcome: 'now', unitCount: 1, endpointCount: 2 },
          { outcome: 'later', unitCount: 23, endpointCount: 62 },
        ],
        conflicts: [],
        conflictCount: 0,
        present: {
          nightMode: [
            { value: false, endpointCount: 54 },
            { value: true, endpointCount: 10 },
          ],
        },
        rooms: [{ roomIds: [7], name: 'Fjord (Oslo)', stage: 1, endpointCount: 2, offlineCount: 0, outcome: 'now' }],
        earliestEnd: '2026-05-04T09:15:30.000Z',
      },
    },
  }),
  jobsCreate: operation({
    ...needs,
    method: 'POST',
    path: '/jobs',
    summary: 'Create a job, and start it if `start` is true',
    description: needsText,
    body: JobsCreateRequest,
    bodyLimitBytes: jobBodyBytes,
    response: JobWithStages,
    versioned: true,
    audit: { category: 'DEVICE', type: 'JOB_CREATED' },
    example: { body: { ...request, start: true }, response: whole },
  }),
  jobsList: operation({
    method: 'GET',
    path: '/jobs',
    tag: 'Jobs',
    scope: 'read',
    summary: 'List the jobs, newest first',
    query: {
      state: OneOf([...jobStates, 'open'], 'Only jobs in this state. open: jobs that are not in a final state.'),
      roomId: Int32('Only jobs with a unit of this room.'),
      ...paging,
      bom: Bom,
    },
    response: Shape('JobList', { jobs: Type.Array(Job), nextPageToken }),
    csv: true,
    csvList: csvList('jobs', 'jobs', Job),
    example: { response: { jobs: [exampleJob], nextPageToken: '' } },
  }),
  jobsGet: operation({
    method: 'GET',
    path: '/jobs/{id}',
    tag: 'Jobs',
    scope: 'read',
    summary: 'Read a job with its counts by stage',
    params: { id },
    response: JobWithStages,
    versioned: true,
    example: { params: { id: '5' }, response: whole },
  }),
  jobsRoomsList: operation({
    method: 'GET',
    path: '/jobs/{id}/rooms',
    tag: 'Jobs',
    scope: 'read',
    command: 'jobs rooms',
    summary: 'List the units of a job with their endpoints',
    params: { id },
    query: {
      state: OneOf(unitStates, 'Only units in this state.'),
      stage: Int32('Only units of this stage, from 1.'),
      roomId: Int32('Only the unit of this room.'),
      failed: Type.Boolean({
        description:
          'true: only units that have failed, including those that were rolled back since. false: only others.',
      }),
      text: Type.String({
        maxLength: maxNameLength,
        description: 'Only units whose name, which has its rooms, contains each of these words.',
      }),
      order: OneOf(
        ['number', 'attention'],
        'number: the order of the job (default). attention: units that have failed, then by state: WAITING, EXPIRED, KEPT, RUNNING, SOAKING, PENDING, CANCELLED, SKIPPED, ROLLED_BACK, SUCCEEDED.',
      ),
      ...paging,
    },
    response: Shape('JobUnitList', { rooms: Type.Array(Unit), nextPageToken }),
    example: {
      params: { id: '5' },
      query: { state: 'SOAKING' },
      response: {
        rooms: [
          {
            number: 1,
            roomIds: [7],
            name: 'Fjord (Oslo)',
            stage: 1,
            state: 'SOAKING',
            beganAt: '2026-05-04T08:15:31.000Z',
            soaksUntil: '2026-05-04T08:45:35.000Z',
            endpoints: [
              {
                endpointId: exampleEndpointId,
                name: 'Room Bar 4K7X',
                state: 'DONE',
                versionBefore: 2,
                versionAfter: 3,
              },
            ],
          },
        ],
        nextPageToken: '',
      },
    },
  }),
  jobsStart: operation({
    ...steps,
    path: '/jobs/{id}/start',
    summary: 'Start a draft job, or schedule it for its startAt',
    description: needsText,
    audit: { category: 'DEVICE', type: 'JOB_STARTED' },
    example: stepExample,
  }),
  jobsPause: operation({
    ...steps,
    path: '/jobs/{id}/pause',
    summary: 'Pause a job: no further units begin',
    description: needsText,
    audit: { category: 'DEVICE', type: 'JOB_PAUSED' },
    example: stepExample,
  }),
  jobsResume: operation({
    ...steps,
    path: '/jobs/{id}/resume',
    summary: 'Resume a job that is paused or stopped',
    description: `The caller becomes the actor of the later changes, and failures are counted from zero. ${needsText}`,
    audit: { category: 'DEVICE', type: 'JOB_RESUMED' },
    example: stepExample,
  }),
  jobsCancel: operation({
    ...steps,
    path: '/jobs/{id}/cancel',
    summary: 'Cancel a job, and roll back its changes if `rollBack` is true',
    description: needsText,
    body: Shape('JobsCancelRequest', {
      rollBack: Type.Optional(Type.Boolean({ description: 'Whether the changes of the job are rolled back.' })),
    }),
    bodyLimitBytes: mediumBodyBytes,
    optionalBody: 'missing',
    audit: { category: 'DEVICE', type: 'JOB_CANCELLED' },
    example: { params: { id: '5' }, body: { rollBack: false }, response: whole },
  }),
  jobsRollBack: operation({
    ...steps,
    path: '/jobs/{id}/roll_back',
    summary:
      'Roll back a job: restore the settings, profiles or rooms from before the job, except where they were changed since',
    description: `Jobs of the types CONFIG, ASSIGN_PROFILE and MOVE can be rolled back until 30 days after their end. With \`now\`, a rollback that waits goes on immediately. ${needsText}`,
    body: Shape('JobsRollBackRequest', {
      now: Type.Optional(Type.Boolean({ description: 'Whether the rollback ignores windows, idle rooms and pace.' })),
    }),
    bodyLimitBytes: mediumBodyBytes,
    optionalBody: 'missing',
    audit: { category: 'DEVICE', type: 'JOB_ROLLED_BACK' },
    example: { params: { id: '5' }, body: { now: true }, response: whole },
  }),
  jobsRetry: operation({
    ...steps,
    path: '/jobs/{id}/retry',
    summary: 'Retry the units that failed or expired',
    description: needsText,
    audit: { category: 'DEVICE', type: 'JOB_RETRIED' },
    example: stepExample,
  }),
}

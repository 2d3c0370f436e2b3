// Jobs: one change to many endpoints, at once or in stages. [contract 12.job]

import Type from 'typebox'
import { exampleEndpointId } from '../endpoints.ts'
import { jobBodyBytes, mediumBodyBytes, operation } from '../operation.ts'
import { Int32, OneOf, Shape, Timestamp } from '../shape.ts'
import { exampleJob, exampleJobRequest as request, exampleWholeJob as whole } from './job-example.ts'
import { JobPlan } from './job-plan.ts'
import { JobAction, JobRequest, JobsCreateRequest, jobRequestFields } from './job-request.ts'
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
  state: OneOf(jobStates, 'How far the job is.'),
  reason: Type.Optional(Type.String({ description: 'Why it is paused, stopped or incomplete.' })),
  action: JobAction,
  createdAt: Timestamp('When it was created.'),
  startedAt: Type.Optional(Timestamp('When it started.')),
  endedAt: Type.Optional(Timestamp('When it became final.')),
  startedBy: Shape('JobActor', { type: Type.String(), id: Type.String(), name: Type.String() }),
  attempt: Int32('1; jobsRetry raises it.'),
  stage: Int32('The present stage, from 1; 0 before the start.'),
  stageCount: Int32('How many stages it has.'),
  unitCount: Int32('How many units it has.'),
  endpointCount: Int32('How many endpoints it has.'),
  counts: countsByState,
  canRollBack: Type.Boolean({ description: 'Whether a rollback can begin.' }),
  rollsBackNow: Type.Optional(
    Type.Literal(true, { description: 'Set while a rollback goes on that waits for nothing.' }),
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
      startedAt: Type.Optional(Timestamp('When it started.')),
    }),
    { description: 'Units by state, for each stage.' },
  ),
  waiting: Type.Record(Type.String(), Int32('How many units wait for it.'), {
    description: 'Units that wait, by reason: window, idle, connection, pace, other job.',
  }),
})

const Unit = Shape('JobUnit', {
  number: Int32('Its place in the order of the job, from 1.'),
  roomIds: Type.Array(Int32('Identifier of a room.')),
  name: Type.String({ description: 'The names of its rooms.' }),
  stage: Int32('Its stage, from 1.'),
  state: OneOf(unitStates, 'How far it is.'),
  reason: Type.Optional(Type.String({ description: 'The reason why it waits, failed, was skipped or was kept.' })),
  beganAt: Type.Optional(Timestamp('When it began.')),
  soaksUntil: Type.Optional(Timestamp('Until when it is watched.')),
  endedAt: Type.Optional(Timestamp('When it ended.')),
  endpoints: Type.Array(
    Shape('JobUnitEndpoint', {
      endpointId: Type.String({ format: 'uuid', description: 'The endpoint.' }),
      name: Type.String({ description: 'Its model and serial number.' }),
      state: OneOf(
        ['PENDING', 'SENT', 'DONE', 'FAILED', 'SKIPPED', 'ROLLED_BACK', 'KEPT'],
        'How far it is. SKIPPED: it was offline when the others of its unit got a message or were asked for logs.',
      ),
      versionBefore: Type.Optional(Int32('Its config version before the job.')),
      versionAfter: Type.Optional(Int32('The config version that the job made.')),
      operationId: Type.Optional(Type.String({ format: 'uuid', description: 'The operation that the job asked for.' })),
      error: Type.Optional(Type.String({ description: 'Why it failed or was kept.' })),
    }),
  ),
})

const paging = {
  pageSize: Int32('Entries per page: 0 or absent means 100, more than 1000 means 1000.'),
  pageToken: Type.String({ description: 'The `nextPageToken` of the page before.' }),
}
const nextPageToken = Type.String({ description: 'Empty on the last page.' })

/** The caller needs what the action needs: write for CONFIG, ASSIGN_PROFILE and MOVE. */
const needs = { tag: 'Jobs', scope: 'write', operate: true } as const
const needsText = 'CONFIG, ASSIGN_PROFILE and MOVE need write.'
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
    summary: 'Say what a job would do, and do nothing',
    body: JobRequest,
    bodyLimitBytes: jobBodyBytes,
    response: JobPlan,
    example: {
      body: request,
      response: {
        unitCount: 24,
        endpointCount: 64,
        emptyRoomCount: 0,
        offlineCount: 3,
        blindCount: 2,
        notSupportingCount: 0,
        unchangedCount: 10,
        stages: [
          { unitCount: 1, manual: false },
          { unitCount: 23, manual: false },
        ],
        conflicts: [],
        conflictCount: 0,
        present: {
          nightMode: [
            { value: false, endpointCount: 54 },
            { value: true, endpointCount: 10 },
          ],
        },
        rooms: [{ roomIds: [7], name: 'Fjord', stage: 1, endpointCount: 2, offlineCount: 0, outcome: 'now' }],
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
      state: OneOf([...jobStates, 'open'], 'Only jobs in this state; open: those that are not final.'),
      roomId: Int32('Only jobs with a unit of this room.'),
      ...paging,
    },
    response: Shape('JobList', { jobs: Type.Array(Job), nextPageToken }),
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
    summary: 'List the units of a job in their order, with their endpoints',
    params: { id },
    query: {
      state: OneOf(unitStates, 'Only units in this state.'),
      stage: Int32('Only units of this stage, from 1.'),
      roomId: Int32('Only the unit of this room.'),
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
            name: 'Fjord',
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
    summary: 'Start a draft, or schedule it for its startAt',
    description: needsText,
    audit: { category: 'DEVICE', type: 'JOB_STARTED' },
    example: stepExample,
  }),
  jobsPause: operation({
    ...steps,
    path: '/jobs/{id}/pause',
    summary: 'Begin no further units of a job',
    description: needsText,
    audit: { category: 'DEVICE', type: 'JOB_PAUSED' },
    example: stepExample,
  }),
  jobsResume: operation({
    ...steps,
    path: '/jobs/{id}/resume',
    summary: 'Go on with a job that is paused or stopped',
    description: `The caller becomes the actor of what follows, and failures are counted from zero. ${needsText}`,
    audit: { category: 'DEVICE', type: 'JOB_RESUMED' },
    example: stepExample,
  }),
  jobsCancel: operation({
    ...steps,
    path: '/jobs/{id}/cancel',
    summary: 'End a job, and roll back what it changed if `rollBack` is true',
    description: needsText,
    body: Shape('JobsCancelRequest', {
      rollBack: Type.Optional(Type.Boolean({ description: 'Whether what was changed is rolled back.' })),
    }),
    bodyLimitBytes: mediumBodyBytes,
    optionalBody: 'missing',
    audit: { category: 'DEVICE', type: 'JOB_CANCELLED' },
    example: { params: { id: '5' }, body: { rollBack: false }, response: whole },
  }),
  jobsRollBack: operation({
    ...steps,
    path: '/jobs/{id}/roll_back',
    summary: 'Give every endpoint back what it had before the job',
    description: `Until 30 days after the end, for CONFIG and ASSIGN_PROFILE. With \`now\` also while a rollback waits. ${needsText}`,
    body: Shape('JobsRollBackRequest', {
      now: Type.Optional(Type.Boolean({ description: 'Whether windows, idle rooms and pace are ignored.' })),
    }),
    bodyLimitBytes: mediumBodyBytes,
    optionalBody: 'missing',
    audit: { category: 'DEVICE', type: 'JOB_ROLLED_BACK' },
    example: { params: { id: '5' }, body: { now: true }, response: whole },
  }),
  jobsRetry: operation({
    ...steps,
    path: '/jobs/{id}/retry',
    summary: 'Try the units again that failed or expired',
    description: needsText,
    audit: { category: 'DEVICE', type: 'JOB_RETRIED' },
    example: stepExample,
  }),
}

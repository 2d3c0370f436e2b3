// Recurring jobs: a job that begins again on days of the week, at a time of each location. [contract 12.recurring]

import Type from 'typebox'
import { jobBodyBytes, operation } from '../operation.ts'
import { Empty, ListOf, OneOf, Shape, Timestamp } from '../shape.ts'
import { timeOfDayPattern, weekdays } from '../weekly-hours.ts'
import { actionTypesWith } from './action-table.ts'
import { jobRequestFields } from './job-request.ts'

/** An organisation has at most this many. */
export const maxRecurringJobs = 100
/** Rooms that have not begun so long after the time of a run expire. */
export const defaultWithinHours = 4
export const maxWithinHours = 168
/** The newest runs are in the answers. */
export const shownRuns = 10
/** A run begins at most this long after its time. One that is later, for example after a stop of the service, is skipped. */
export const lateRunMinutes = 5

export const recurringStates = ['ACTIVE', 'PAUSED'] as const
export const runOutcomes = ['STARTED', 'SKIPPED'] as const

const id = Type.String({ description: 'Identifier of the recurring job, a decimal number.' })
const closed = { additionalProperties: false }
const { name, target, action, respect, pace, skipConflicts } = jobRequestFields

const Schedule = Shape(
  'JobSchedule',
  {
    days: Type.Array(OneOf(weekdays, 'A day of the week, by the clocks of each location.'), {
      minItems: 1,
      maxItems: 7,
    }),
    at: Type.String({
      pattern: timeOfDayPattern,
      description:
        'Time of day, such as 03:00, by the clocks of each location. A time that clocks are set forward over is when they are set; of a time that comes twice the first one counts.',
    }),
  },
  closed,
)

const within = Type.Integer({
  minimum: 1,
  maximum: maxWithinHours,
  description: `Rooms that have not begun so many hours after the time of a run expire; default ${defaultWithinHours}.`,
})

const requestFields = {
  name,
  target,
  action,
  schedule: Schedule,
  withinHours: Type.Optional(within),
  respect,
  pace,
  skipConflicts,
}
const Request = Shape('RecurringJobRequest', requestFields, closed)

const Run = Shape('RecurringJobRun', {
  at: Timestamp('Time for which the run was due.'),
  timezone: Type.String({ description: 'The time zone whose rooms the run has.' }),
  outcome: OneOf(runOutcomes, 'STARTED: the run has a job. SKIPPED: it has none, and a reason.'),
  jobId: Type.Optional(Type.String({ description: 'The job of the run.' })),
  reason: Type.Optional(Type.String({ description: 'Reason why the run was skipped.' })),
})

const RecurringJob = Shape('RecurringJob', {
  id,
  name,
  target,
  action,
  schedule: Schedule,
  withinHours: within,
  respect,
  pace,
  skipConflicts: Type.Boolean({ description: 'Whether rooms whose profile locks a key of the config are skipped.' }),
  state: OneOf(recurringStates, 'Whether runs begin.'),
  reason: Type.Optional(Type.String({ description: 'Reason why the recurring job is paused.' })),
  startedBy: Shape('RecurringJobActor', { type: Type.String(), id: Type.String(), name: Type.String() }),
  createdAt: Timestamp('Time at which the recurring job was created.'),
  nextRuns: Type.Array(
    Shape('RecurringJobNextRun', {
      at: Timestamp('Time of the next run.'),
      timezone: Type.String({ description: 'The time zone whose rooms the run has.' }),
    }),
    { description: 'The next run in each time zone, the earliest first; empty while the recurring job is paused.' },
  ),
  runs: Type.Array(Run, { description: `The last ${shownRuns} runs, the newest first.` }),
})

const example = {
  id: '2',
  name: 'Restart every night',
  target: { regionIds: [11] },
  action: { type: 'REBOOT' as const },
  schedule: { days: [...weekdays], at: '03:00' },
  withinHours: defaultWithinHours,
  respect: { window: false, idle: true },
  pace: { atOnce: 50, atOncePerLocation: 5 },
  skipConflicts: false,
  state: 'ACTIVE' as const,
  startedBy: { type: 'USER', id: '4', name: 'Ada' },
  createdAt: '2026-05-04T08:15:30.000Z',
  nextRuns: [{ at: '2026-05-07T01:00:00.000Z', timezone: 'Europe/Oslo' }],
  runs: [
    {
      at: '2026-05-06T01:00:00.000Z',
      timezone: 'Europe/Oslo',
      outcome: 'SKIPPED' as const,
      reason: 'Job 31, which the run before started, has not ended.',
    },
    { at: '2026-05-05T01:00:00.000Z', timezone: 'Europe/Oslo', outcome: 'STARTED' as const, jobId: '31' },
  ],
}
const { name: exampleName, target: exampleTarget, action: exampleAction, schedule: exampleSchedule } = example
const exampleBody = { name: exampleName, target: exampleTarget, action: exampleAction, schedule: exampleSchedule }

/** The caller needs what the action needs, write or operate. */
const needs = { tag: 'Jobs', scope: 'write', operate: true } as const
const needsText = `${actionTypesWith(({ needs, recurs }) => recurs && needs === 'write')} need write.`
const answer = { response: RecurringJob, versioned: true } as const
const ofOne = { params: { id }, ...answer } as const

export const recurringJobOperations = {
  recurringJobsList: operation({
    method: 'GET',
    path: '/recurring_jobs',
    tag: 'Jobs',
    scope: 'read',
    summary: 'List the recurring jobs with their next and last runs',
    response: ListOf('RecurringJobList', 'recurringJobs', RecurringJob),
    example: { response: { recurringJobs: [example] } },
  }),
  recurringJobsCreate: operation({
    ...needs,
    ...answer,
    method: 'POST',
    path: '/recurring_jobs',
    summary: 'Repeat a job on days of the week, at a time of each location',
    description: `Each run is a job of its own. ${needsText}`,
    body: Request,
    bodyLimitBytes: jobBodyBytes,
    audit: { category: 'DEVICE', type: 'RECURRING_JOB_CREATED' },
    example: { body: exampleBody, response: { ...example, runs: [] } },
  }),
  recurringJobsGet: operation({
    ...ofOne,
    method: 'GET',
    path: '/recurring_jobs/{id}',
    tag: 'Jobs',
    scope: 'read',
    summary: 'Read a recurring job with its next and last runs',
    example: { params: { id: '2' }, response: example },
  }),
  recurringJobsUpdate: operation({
    ...needs,
    ...ofOne,
    method: 'PUT',
    path: '/recurring_jobs/{id}',
    ifMatch: true,
    summary: 'Replace a recurring job',
    description: `An absent key gets its default. The caller becomes the actor of later runs. A job that runs goes on as it is. ${needsText}`,
    body: Request,
    bodyLimitBytes: jobBodyBytes,
    audit: { category: 'DEVICE', type: 'RECURRING_JOB_UPDATED' },
    example: {
      params: { id: '2' },
      body: { ...exampleBody, schedule: { days: ['mon', 'tue', 'wed', 'thu', 'fri'], at: '04:00' } },
      response: { ...example, schedule: { days: ['mon', 'tue', 'wed', 'thu', 'fri'], at: '04:00' } },
    },
  }),
  recurringJobsPause: operation({
    ...needs,
    ...ofOne,
    method: 'POST',
    path: '/recurring_jobs/{id}/pause',
    ifMatch: true,
    summary: 'Pause a recurring job: no further run begins',
    description: `A job that runs goes on. ${needsText}`,
    audit: { category: 'DEVICE', type: 'RECURRING_JOB_PAUSED' },
    example: {
      params: { id: '2' },
      response: { ...example, state: 'PAUSED', reason: 'Paused by Ada.', nextRuns: [] },
    },
  }),
  recurringJobsResume: operation({
    ...needs,
    ...ofOne,
    method: 'POST',
    path: '/recurring_jobs/{id}/resume',
    ifMatch: true,
    summary: 'Resume a recurring job that is paused',
    description: `The caller becomes the actor of later runs. Runs of the time between are not made up. ${needsText}`,
    audit: { category: 'DEVICE', type: 'RECURRING_JOB_RESUMED' },
    example: { params: { id: '2' }, response: example },
  }),
  recurringJobsDelete: operation({
    ...needs,
    method: 'DELETE',
    path: '/recurring_jobs/{id}',
    params: { id },
    response: Empty,
    ifMatch: true,
    summary: 'Delete a recurring job; its jobs stay',
    description: needsText,
    audit: { category: 'DEVICE', type: 'RECURRING_JOB_DELETED' },
    example: { params: { id: '2' }, response: {} },
  }),
}

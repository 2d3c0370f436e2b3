// A job as the examples of its operations show it.

const target = { regionIds: [11], models: ['NF19B1'], tags: ['huddle'] }
const action = { type: 'CONFIG', config: { nightMode: true } }
export const exampleJobRequest = { name: 'Night mode', target, action, stages: [{ rooms: 1 }, { percent: 100 }] }
export const exampleJob = {
  id: '5',
  name: 'Night mode',
  state: 'RUNNING',
  action,
  createdAt: '2026-05-04T08:15:30.000Z',
  startedAt: '2026-05-04T08:15:31.000Z',
  startedBy: { type: 'USER', id: '4', name: 'Ada' },
  attempt: 1,
  stage: 1,
  stageCount: 2,
  unitCount: 24,
  endpointCount: 64,
  counts: { PENDING: 23, SOAKING: 1 },
  failedCount: 0,
  canRollBack: true,
}
export const exampleWholeJob = {
  ...exampleJob,
  target,
  stages: exampleJobRequest.stages,
  soakMinutes: 30,
  failures: { percent: 5, atLeast: 1 },
  onFailure: 'rollBack',
  respect: { window: true, idle: false },
  pace: { atOnce: 50, atOncePerLocation: 5 },
  skipConflicts: false,
  includeNew: false,
  startAt: null,
  deadline: '2026-05-18T08:15:31.000Z',
  stageCounts: [
    { unitCount: 1, counts: { SOAKING: 1 }, startedAt: '2026-05-04T08:15:31.000Z' },
    { unitCount: 23, counts: { PENDING: 23 } },
  ],
  waiting: {},
}

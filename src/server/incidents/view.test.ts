// A caller who sees only some subjects of an incident reads nothing about the others. [contract 10.states]
import { expect, test } from 'vitest'
import { RegionAccess } from '../core/region-access.ts'
import type { IncidentRow, SubjectRow } from './store.ts'
import { incidentView } from './view.ts'

const incident: IncidentRow = {
  id: 1,
  version: 1,
  rule: 'device.fault',
  severity: 'WARNING',
  state: 'OPEN',
  level: 'MODEL',
  cause_id: 'PX-900',
  cause_name: 'PX-900',
  detail: JSON.stringify({ fault: { code: 'lamp.end', text: 'Lamp of the board room worn out' } }),
  since: 1,
  opened_at: 2,
  updated_at: 2,
  resolved_at: null,
  cause_ended_at: null,
  occurrences: 1,
  reopenings: '[]',
  flapping: 0,
  acknowledged_by: null,
  acknowledged_at: null,
  assignee_id: null,
  snoozed_until: null,
  snoozed_until_cleared: 0,
  merged_into: null,
  split_from: null,
}
const subjectIn = (region_id: number): SubjectRow => ({
  incident_id: 1,
  subject_type: 'endpoint',
  subject_id: `device ${region_id}`,
  name: `Projector ${region_id}`,
  room_id: null,
  room_name: null,
  location_id: null,
  region_id,
  since: 1,
  ended_at: null,
})

test('the text of a fault is not shown to callers who see only some of the devices [contract 10.rule]', () => {
  const subjects = [subjectIn(1), subjectIn(2)]
  const titleFor = (access: RegionAccess) => incidentView(incident, subjects, access).title
  expect(titleFor(RegionAccess.everything)).toBe(
    'Projector 1 and Projector 2 report a fault: Lamp of the board room worn out (lamp.end)',
  )
  expect(titleFor(RegionAccess.of([2]))).toBe('Projector 2 reports the fault lamp.end')
})

// Tests who is offered as an assignee. [contract 10.states]
import { expect, test } from 'vitest'
import { canWorkOn } from './assignee.tsx'

const person = { role: 'operator' as const, state: 'ACTIVE' as const, allRegions: false, regionIds: [1, 2] }
const nordics = { regionIds: [1] }
const iberia = { regionIds: [3] }
const both = { regionIds: [1, 3] }
const nowhere = { regionIds: [] }

test('a person with the role and all the regions is offered', () => {
  expect(canWorkOn(person, [nordics])).toBe(true)
  expect(canWorkOn({ ...person, state: 'INVITED' }, [nordics])).toBe(true)
  for (const incident of [iberia, both, nowhere]) expect(canWorkOn(person, [incident])).toBe(false)
  expect(canWorkOn(person, [nordics, iberia]), 'of several incidents all count').toBe(false)
})

test('people who see everything are offered for every incident, viewers and disabled people for none', () => {
  for (const incident of [nordics, iberia, both, nowhere]) {
    expect(canWorkOn({ ...person, allRegions: true }, [incident])).toBe(true)
    expect(canWorkOn({ ...person, role: 'owner' }, [incident])).toBe(true)
    expect(canWorkOn({ ...person, role: 'viewer', allRegions: true }, [incident])).toBe(false)
    expect(canWorkOn({ ...person, state: 'DISABLED', allRegions: true }, [incident])).toBe(false)
  }
})

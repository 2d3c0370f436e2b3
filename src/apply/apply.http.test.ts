// Export, plan and apply against a real service.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newFixture } from '../../test/support/fixture.ts'
import { type Harness, startHarness, type TestOrg } from '../../test/support/harness.ts'
import { checkDocument } from '../plan/check-document.ts'
import type { OrganisationDocument } from '../plan/document.ts'
import { documentOf } from '../plan/document-of.ts'
import { makePlan } from '../plan/make-plan.ts'
import type { PlanOptions } from '../plan/plan.ts'
import { type ApplyOptions, applyPlan } from './apply-plan.ts'
import { readOrganisation } from './read-organisation.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ outboundAllow: ['127.0.0.1'] })
})
afterAll(() => harness.close())

const planFor = async (org: TestOrg, document: OrganisationDocument, options: PlanOptions = {}) =>
  makePlan(document, await readOrganisation(org.client, document), options)

async function applyTo(
  org: TestOrg,
  document: OrganisationDocument,
  options: PlanOptions & Partial<ApplyOptions> = {},
) {
  const plan = await planFor(org, document, options)
  expect(plan.problems).toEqual([])
  const outcomes = await applyPlan(org.client, plan, { secretOf: (name) => `secret-${name}`, ...options })
  return { plan, outcomes, failures: outcomes.filter(({ state }) => state !== 'done') }
}

const exportOf = async (org: TestOrg) => documentOf(await readOrganisation(org.client, undefined))

test('an export of everything fits its shape, and its plan is empty', async () => {
  const org = await newFixture(harness)
  const document = await exportOf(org)
  console.log(JSON.stringify(document, null, 1))
  expect(checkDocument(document)).toEqual({ document })
  const plan = await planFor(org, document, { prune: true })
  expect(plan).toMatchObject({ steps: [], problems: [], hints: [] })
})

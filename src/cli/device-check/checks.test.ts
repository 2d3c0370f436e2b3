// The table of device-check: each check names a section of the protocol document, and each command has a check.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandTypes } from '../../contract/fleet/commands.ts'
import { checks } from './checks.ts'
import { anchorOf } from './device-check.ts'
import { newFacts } from './facts.ts'
import { allSteps } from './steps.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/device-protocol.md'), 'utf8')
const headings = [...page.matchAll(/^#{2,} (.+)$/gm)].map(([, heading]) => heading ?? '')

test.each(checks)('$id names a section of docs/device-protocol.md', ({ section, expects, advice }) => {
  expect(headings).toContain(section)
  expect(expects).toMatch(/\.$/)
  expect(advice).toMatch(/\.$/)
})

test('the anchors of sections are those that the contents of the document use', () => {
  const links = [...page.matchAll(/^\d+\. \[(.+)\]\(#(.+)\)$/gm)]
  expect(links.length).toBeGreaterThan(8)
  for (const [, heading = '', anchor] of links) expect(anchorOf(heading)).toBe(anchor)
})

test('ids are unique, every step has a check, and every command of the contract has one', () => {
  const ids = checks.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect([...new Set(checks.map(({ step }) => step))]).toEqual(allSteps)
  for (const type of commandTypes) expect(ids).toContain(`command.${type.toLowerCase().replaceAll('_', '-')}`)
})

test('a device that never came is wrong about its enrolment, and about nothing else', () => {
  const facts = newFacts()
  const verdicts = checks.filter(({ step }) => step === 'enrolment').map((check) => check.judge(facts).state)
  expect(verdicts).toEqual(['wrong', 'never'])
})

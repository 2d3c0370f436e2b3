// The name of a job fits, and says both what is done and to which rows.
import { expect, test } from 'vitest'
import { maxNameLength } from '../../../contract/shape.ts'
import { jobNameOf } from './job-name.ts'

test('a name that fits has the whole action and the whole subject, in one line', () => {
  expect(jobNameOf('Restart', '3 rooms in Boston Seaport')).toBe('Restart · 3 rooms in Boston Seaport')
  expect(jobNameOf('Message: Fire drill\n at 10:00')).toBe('Message: Fire drill at 10:00')
})

test('a long action is shortened before the subject', () => {
  const name = jobNameOf(`Message: ${'word '.repeat(40)}`, '3 rooms in Boston Seaport')
  expect(name).toMatch(/^Message: (word )+.*… · 3 rooms in Boston Seaport$/)
  expect([...name].length).toBeLessThanOrEqual(maxNameLength)
})

test('a long subject is cut at half of the name, so the action stays readable', () => {
  const name = jobNameOf('Restart', `Bar in ${'Røros '.repeat(30)}`)
  expect(name).toMatch(/^Restart · Bar in (Røros )+.*…$/)
  expect(jobNameOf('A'.repeat(200), 'B'.repeat(200))).toBe(`${'A'.repeat(46)}… · ${'B'.repeat(49)}…`)
})

test('characters outside the basic plane are counted once and never split', () => {
  expect(jobNameOf('🎥'.repeat(200))).toBe(`${'🎥'.repeat(maxNameLength - 1)}…`)
})

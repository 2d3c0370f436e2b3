// The bar for long work.
import { expect, test } from 'vitest'
import { testTerminal } from '../../../test/support/test-terminal.ts'
import { Progress, progressLine } from './progress.ts'

test('the bar shows the share that is done', () => {
  expect(progressLine('Reading', 0, 4)).toBe('Reading [........................] 0/4')
  expect(progressLine('Reading', 3, 4)).toBe('Reading [##################......] 3/4')
  expect(progressLine('Reading', 0, 0)).toBe('Reading [########################] 0/0')
  expect(progressLine('Reading', 1200, undefined)).toBe('Reading 1200')
})

test('many steps in a moment are shown once, the last one always, and the end removes the bar', () => {
  const lines: string[] = []
  const progress = new Progress(testTerminal({ showProgress: (line) => void lines.push(line) }), 'Rooms', 1000)
  for (let step = 0; step < 1000; step++) progress.advance()
  progress.end()
  expect(lines.length).toBeLessThan(100)
  expect(lines[0]).toContain(' 0/1000')
  expect(lines.at(-2)).toContain(' 1000/1000')
  expect(lines.at(-1)).toBe('')
})

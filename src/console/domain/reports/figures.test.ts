// Tests that figures are not rounded to what they are not.
import { expect, test } from 'vitest'
import { availabilityText, shareText } from '../../../contract/reports/figure-texts.ts'
import { peopleFigure, quartersText } from './figures.ts'

test('a share that is neither nothing nor all is shown as neither', () => {
  expect([0, 0.001, 0.004, 0.006, 0.415, 0.9951, 1].map(shareText)).toEqual([
    ...['0 %', '<1 %', '<1 %', '1 %', '42 %', '>99 %', '100 %'],
  ])
  expect(shareText(undefined)).toBe('–')
})

test('an availability is rounded down, so a missed target does not look met', () => {
  expect([0.99496, 0.995, 1, 0.9348].map(availabilityText)).toEqual(['99.49 %', '99.50 %', '100.00 %', '93.48 %'])
})

test('quarters are a duration, and absent figures a dash', () => {
  expect([quartersText(0), quartersText(5), quartersText(undefined)]).toEqual(['0 s', '1 h 15 min', '–'])
  expect([peopleFigure(2.55), peopleFigure(undefined)]).toEqual(['2.6', '–'])
})

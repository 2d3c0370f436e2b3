// Tests which choices the list of a filter shows, and what its chip says.
import { expect, test } from 'vitest'
import {
  chosenText,
  deletedLabel,
  maxShown,
  ownLabel,
  shownChoices,
  withMissing,
  withoutUnknown,
} from './filter-choices.ts'

const filterOf = (...values: string[]) => ({ values, isNot: false })
const states = [
  { value: 'on', label: 'Online' },
  { value: 'off', label: 'Offline' },
]

test('a value that is not among the choices is deleted, names itself, or filters nothing if the list is fixed', () => {
  const filter = filterOf('mistyped', 'off')
  const textWith = (missingLabel: typeof ownLabel | undefined) => {
    const choices = withMissing(states, filter, missingLabel)
    return chosenText(withoutUnknown(filter, choices), choices)
  }
  expect(textWith(deletedLabel)).toBe('Offline or Deleted')
  expect(textWith(ownLabel)).toBe('Offline or mistyped')
  expect(textWith(undefined)).toBe('Offline')
  expect(chosenText(withoutUnknown(filterOf('mistyped'), states), states), 'the chip is not set').toBeUndefined()
})

test('a chip names up to three values, and says that they are excluded', () => {
  const choices = ['a', 'b', 'c', 'd'].map((value) => ({ value, label: value.toUpperCase() }))
  expect(chosenText(filterOf('c', 'a', 'b'), choices)).toBe('A or B or C')
  expect(chosenText({ values: ['a', 'b', 'c', 'd'], isNot: true }, choices)).toBe('not A, B and 2 more')
})

test('a long list is cut, but not the values that are chosen', () => {
  const choices = Array.from({ length: maxShown + 10 }, (_, n) => ({ value: String(n), label: `Room ${n}` }))
  const last = String(maxShown + 9)
  const valuesOf = (filter: ReturnType<typeof filterOf>, query = '') =>
    shownChoices(choices, filter, query).map(({ value }) => value)
  const uncut = choices.slice(0, maxShown).map(({ value }) => value)
  expect(valuesOf(filterOf())).toEqual(uncut)
  expect(valuesOf(filterOf('5', last)), 'choices that are not cut stay in their place').toEqual([last, ...uncut])
  expect(valuesOf(filterOf(last), 'room 30').slice(-2)).toEqual(['308', last])
})

// How a device is named for people. [contract 5.1.label]
import { expect, test } from 'vitest'
import { endpointLabel } from './endpoint-label.ts'

const bar = { model: 'NF19B1', serial: 'NB1JWSL00431000' }

test.each([
  [{ ...bar, name: 'Bar at the window' }, 'Bar at the window'],
  [bar, 'Bar 431000'],
  [{ ...bar, name: null }, 'Bar 431000'],
  [{ model: 'PX-900', serial: 'A1' }, 'PX-900 A1'],
  [{ model: 'constructor', serial: '1234567' }, 'constructor 234567'],
  [{ ...bar, serial: '12345😀6' }, 'Bar 2345😀6'],
])('%j is shown as %j: the name, else the model with the last six characters of the serial', (endpoint, label) => {
  expect(endpointLabel(endpoint)).toBe(label)
})

test.each([
  [
    'a name in two lines',
    { ...bar, name: 'Bar\r\nBcc: all@example.org\u2028\u0000end' },
    'Bar Bcc: all@example.org end',
  ],
  ['a name that turns the line around', { ...bar, name: '\u202eexe.\u2066raB\u061c\u200f' }, 'exe.raB'],
  ['a name that nobody sees', { ...bar, name: ' \u202e\u200b\n ' }, 'Bar 431000'],
  ['a model and a serial with such characters', { model: 'P\n\u202eX', serial: 'ABC\u202eDEF\n' }, 'P X ABCDEF'],
])('%s breaks nothing', (_, endpoint, label) => {
  expect(endpointLabel(endpoint)).toBe(label)
})

// The values of options, from their texts and shapes.
import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { expect, test } from 'vitest'
import type { Operation } from '../../contract/operation.ts'
import { operationIds, operations } from '../../contract/operations.ts'
import { NullableId, OneOf } from '../../contract/shape.ts'
import { helpOf, isList, parseItems, parseValue, placeholderOf, type ShapeText, shapeText } from './shape-text.ts'

const text = shapeText(Type.String())
const flag = shapeText(Type.Boolean())
const id = shapeText(NullableId('Location.'))
const config = shapeText(Type.Object({ brightness: Type.Number() }))
const until = shapeText(Type.Union([Type.String(), Type.Null()]))
const ids = shapeText(Type.Array(Type.Integer()))
const hours = shapeText(operations.locationsUpdate.body.properties.changeWindow)
const names = shapeText(Type.Union([Type.Array(Type.String()), Type.Null()]))

test.each<[ShapeText, string, unknown]>([
  [text, 'null', 'null'],
  [text, '5', '5'],
  [text, '{"a":1}', '{"a":1}'],
  [text, '', ''],
  [flag, 'true', true],
  [flag, 'false', false],
  [id, '5', 5],
  [id, '-5', -5],
  [id, 'null', null],
  [until, 'null', null],
  [until, 'cleared', 'cleared'],
  [config, '{"brightness":0.5}', { brightness: 0.5 }],
  [hours, '{"days":["mon"],"from":"20:00","to":"05:00"}', { days: ['mon'], from: '20:00', to: '05:00' }],
  [hours, 'null', null],
  [hours, '[]', []],
])('%j takes %j as %j', (shape, value, expected) => {
  expect(parseValue(shape, value)).toEqual(expected)
})

test.each<[ShapeText, string, string]>([
  [flag, 'yes', 'The value must be true or false.'],
  [id, 'five', 'The value must be a number, or null.'],
  [id, '', 'The value must be a number, or null.'],
  [config, 'brightness', 'The value must be JSON.'],
  [config, '{', 'The value is not JSON: '],
])('%j refuses %j', (shape, value, message) => {
  expect(() => parseValue(shape, value)).toThrow(message)
})

test.each<[ShapeText, string, unknown]>([
  [ids, '5', [5]],
  [ids, '5, 6', [5, 6]],
  [ids, '[5,6]', [5, 6]],
  [names, 'a, b', ['a, b']],
  [names, '[]', []],
  [names, 'null', null],
])('the list %j takes %j as %j', (shape, value, expected) => {
  expect(parseItems(shape, value)).toEqual(expected)
})

test('an option takes every kind of value that its key of a body can have', () => {
  const samples: Readonly<Record<string, [text: string, value: unknown]>> = {
    ...{ null: ['null', null], boolean: ['true', true], integer: ['5', 5], number: ['5', 5] },
    ...{ array: ['[]', []], object: ['{}', {}] },
  }
  const kindsOf = ({ type = 'object', anyOf }: ShapeText): string[] => anyOf?.flatMap(kindsOf) ?? [type]
  const wrong = operationIds.flatMap((id) => {
    const { body }: Operation = operations[id]
    return Object.entries((body && shapeText(body).properties) ?? {}).flatMap(([key, shape]) =>
      kindsOf(shape).flatMap((kind) => {
        const [sample, value] = samples[kind] ?? []
        if (sample === undefined) return []
        const parse = () => (isList(shape) ? parseItems(shape, sample) : parseValue(shape, sample))
        return isDeepStrictEqual(attempt(parse), value) ? [] : [`${id} ${key} ${sample}`]
      }),
    )
  })
  expect(wrong).toEqual([])
})

const attempt = (parse: () => unknown): unknown => {
  try {
    return parse()
  } catch (error) {
    return error
  }
}

test('the help names the kind of value, its words, and how it is cleared', () => {
  const severity = shapeText(OneOf(['INFO', 'CRITICAL'], 'The severity.'))
  expect([placeholderOf(severity), helpOf(severity)]).toEqual(['text', 'The severity. One of INFO, CRITICAL.'])
  expect([placeholderOf(id), helpOf(id)]).toEqual(['number', 'Location. null clears it.'])
  expect([placeholderOf(names), helpOf(names)]).toEqual(['text', 'Repeatable. null clears it.'])
  expect(helpOf(config)).toBe('Keys: brightness.')
  expect(helpOf(shapeText(Type.Array(Type.Object({ percent: Type.Integer() }))))).toBe('Keys: percent. Repeatable.')
  expect([flag, ids, config, hours].map(placeholderOf)).toEqual(['true|false', 'number', 'json', 'json'])
  expect([ids, names, config, hours].map(isList)).toEqual([true, true, false, false])
})

// The grammar of value templates: what it reads, what it refuses, and what a message yields.
import { expect, test } from 'vitest'
import { maxJsonDepth, parseLimitedJson } from './limited-json.ts'
import { evaluate, NotUnderstood, parseTemplate, TemplateInput } from './template.ts'

const json = JSON.stringify({
  co2: 612,
  temperature: '21.46',
  'soil moisture': 7,
  occupancy: true,
  nothing: null,
  SCD40: { CarbonDioxide: 612, list: [{ a: 1 }, { a: 2.5 }] },
  deep: { b: { c: { d: [9, 8] } } },
})

const resultOf = (template: string, payload: string, topic = 'a/b/c') => {
  const parsed = parseTemplate(template)
  if (parsed instanceof NotUnderstood) return parsed.sentence
  const found = evaluate(parsed, new TemplateInput({ topic, payload }))
  if (found.kind === 'value') return found.value
  return found.kind === 'absent' ? 'absent' : found.because
}

test.each([
  ['{{ value }}', '21.4', '21.4'],
  ['value', 'nan', 'nan'],
  ['{{ value_json.co2 }}', json, 612],
  ['{{value_json.co2}}', json, 612],
  ['{{- value_json.co2 -}}', json, 612],
  ['value_json.co2', json, 612],
  ['{{ value_json["co2"] }}', json, 612],
  ["{{ value_json['soil moisture'] }}", json, 7],
  ['{{ value_json.SCD40.CarbonDioxide }}', json, 612],
  ['{{ value_json.SCD40[\'list\'][1]["a"] }}', json, 2.5],
  ['value_json.deep.b[\'c\']["d"][0]', json, 9],
  ['{{ value_json }}', '21.4', 21.4],
  ['{{ value_json[1] }}', '[3, 4]', 4],
  ['{{ value_json.temperature | float }}', json, 21.46],
  ['{{ value_json.temperature|float|round(1) }}', json, 21.5],
  ['{{ value_json.temperature | round }}', json, 21],
  ['{{ value | int }}', '-2.9', -2],
  ['{{ value | float(0) }}', 'unavailable', 0],
  ['{{ value | float | round(2) }}', '1.005', 1.01],
  ['{{ value_json.missing | default(0) }}', json, 0],
  ["{{ value_json.missing | default('none') }}", json, 'none'],
  ['{{ value_json.nothing | default(5) }}', json, 'absent'],
  ['{{ value_json.co2 | is_defined }}', json, 612],
  ['{{ value_json.missing | is_defined }}', json, 'absent'],
  ['{{ value_json.missing.too.deep }}', json, 'absent'],
  ['{{ value_json.missing | float }}', json, 'absent'],
  ['{{ value_json.nothing }}', json, 'absent'],
  ['{{ value_json.occupancy }}', json, true],
  ['{{ value_json.constructor }}', json, 'absent'],
  ['{{ value_json.__proto__ }}', json, 'absent'],
  ['{{ value_json.deep.b }}', json, 'The value is a list or an object.'],
  ['{{ value_json.deep | float }}', json, 'Not a number: {"b":{"c":{"d":[9,8]}}}'],
  ['{{ value | float }}', 'unavailable', 'Not a number: unavailable'],
  ['{{ value | float }}', '1e999', 'Not a number: 1e999'],
  ['{{ value_json.v | float }}', '{"v":1e999}', 'Not a number: Infinity'],
  ['{{ value_json.co2 }}', 'not json', 'The message is not JSON.'],
  ['topic[1]', 'x', 'b'],
  ['topic[7]', 'x', 'absent'],
])('%s of %s is %j', (template, payload, expected) => {
  expect(resultOf(template, payload)).toEqual(expected)
})

test.each([
  '{{ value_json.co2 * 10 }}',
  '{{ value_json.a + value_json.b }}',
  '{{ float(value|int) * 0.1 }}',
  '{{ value_json.battery_ok|float * 99|int + 1 }}',
  '{% if value_json.x %}1{% endif %}',
  '{{ value_json.x if value_json.x is defined else 0 }}',
  '{{ states("sensor.x") }}',
  '{{ value_json.items() }}',
  '{{ value.split(",")[0] }}',
  '{{ value[0] }}',
  '{{ value_json[-1] }}',
  '{{ value_json[1.5] }}',
  '{{ value_json.x | default }}',
  '{{ value_json.x | default(1, true) }}',
  "{{ value_json.x | round(1, 'floor') }}",
  '{{ value_json.x | round(99) }}',
  '{{ value_json.x | timestamp_custom("%H") }}',
  '{{ value_json.x | upper }}',
  '{{ {{ value }} }}',
  '{{ value }}{{ value }}',
  '{{ value }} ppm',
  '{{ }}',
  '',
  '{{ value_json. }}',
  '{{ value_json.x | }}',
  '{{ value_json["x] }}',
  '{{ value_json["\\u0041"] }}',
  'constructor.constructor("return process")()',
  `value_json${'.a'.repeat(17)}`,
  `value${' | float'.repeat(9)}`,
  `{{ value_json.${'x'.repeat(600)} }}`,
])('%s is not understood, and listed with its text', (template) => {
  const parsed = parseTemplate(template)
  expect(parsed).toBeInstanceOf(NotUnderstood)
  const { sentence } = parsed as NotUnderstood
  expect(sentence).toContain(template.slice(0, 100))
  expect(sentence.length).toBeLessThanOrEqual(200)
})

test('JSON is read to a limited depth, and brackets in texts do not count', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  expect(parseLimitedJson(nested(maxJsonDepth))).toBeDefined()
  expect(parseLimitedJson(nested(maxJsonDepth + 1))).toBeUndefined()
  expect(parseLimitedJson(nested(100_000))).toBeUndefined()
  const text = `\\"${'['.repeat(100)}`
  expect(parseLimitedJson(`["${text}"]`)).toEqual([`"${'['.repeat(100)}`])
})

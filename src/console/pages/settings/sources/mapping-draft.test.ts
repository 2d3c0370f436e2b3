// Tests the mapping that a form makes, and which models need one.
import { expect, test } from 'vitest'
import type { SensorMapping, SourceDevice } from '../../../../contract/fleet/sources.ts'
import { isMappingComplete, mappingDraftOf, mappingOf, newMappingDraft, unmappedModels } from './mapping-draft.ts'

const mapping: SensorMapping = {
  format: 'json',
  model: 'Hall sensor',
  topic: 'building/+/air',
  device: 'topic[1]',
  values: [
    { sensor: 'co2', template: 'value_json.co2' },
    { sensor: 'temp', template: 'value_json.t', unit: '°F' },
  ],
}

test('a stored mapping comes back as it was', () => {
  expect(mappingOf(mappingDraftOf(mapping))).toEqual(mapping)
})

test('a mapping needs a model and a value, and one of people and presence', () => {
  const draft = mappingDraftOf(mapping)
  expect(isMappingComplete(draft)).toBe(true)
  expect(isMappingComplete({ ...draft, model: ' ' })).toBe(false)
  expect(isMappingComplete({ ...draft, topic: '' })).toBe(false)
  expect(isMappingComplete(newMappingDraft('json', { model: 'A', topic: 'a' }))).toBe(false)
  const some = { template: 'value', unit: '' }
  expect(isMappingComplete({ ...draft, values: { ...draft.values, people: some } })).toBe(true)
  expect(isMappingComplete({ ...draft, values: { ...draft.values, people: some, presence: some } })).toBe(false)
})

test('LoRaWAN mappings have no topic and no device of their own', () => {
  const draft = { ...mappingDraftOf(mapping), format: 'chirpstack' as const }
  expect(Object.keys(mappingOf(draft))).toEqual(['format', 'model', 'values'])
})

test('models that need a mapping and have none are listed, the most frequent first', () => {
  const device = (model: string, more: object = {}): SourceDevice => ({
    ...{ key: model, model, state: 'FOUND', isMissing: false, foundAt: '2026-05-04T08:15:30.000Z' },
    ...{ format: 'things-stack', ...more },
  })
  const devices = [
    device('AM102'),
    device('EM300'),
    device('EM300'),
    device('AM107', { mapping: 'AM107' }),
    device('Plug', { format: 'tasmota' }),
    device('Old', { state: 'EXCLUDED' }),
  ]
  expect(unmappedModels(devices).map(({ model, count }) => `${model} ${count}`)).toEqual(['EM300 2', 'AM102 1'])
})

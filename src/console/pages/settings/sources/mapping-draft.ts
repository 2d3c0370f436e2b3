// The values of the form of a mapping, and the mapping that they make. [contract 15.sources]
import {
  type MappedValue,
  mappedValues,
  type SensorMapping,
  type SourceDevice,
} from '../../../../contract/fleet/sources.ts'

export interface MappingDraft {
  readonly format: SensorMapping['format']
  readonly model: string
  readonly match: string
  readonly topic: string
  readonly device: string
  readonly time: string
  /** An empty template is a value that the messages do not have; an empty unit that of the sensor. */
  readonly values: Readonly<Record<MappedValue, { readonly template: string; readonly unit: string }>>
}

const noValue = { template: '', unit: '' }
const noValues = Object.fromEntries(mappedValues.map((value) => [value, noValue])) as MappingDraft['values']

export const newMappingDraft = (
  format: SensorMapping['format'],
  { model, topic }: { readonly model?: string; readonly topic?: string } = {},
): MappingDraft => ({
  format,
  model: model ?? '',
  match: format === 'json' ? '' : (model ?? ''),
  topic: format === 'json' ? (topic ?? '') : '',
  device: '',
  time: '',
  values: noValues,
})

export const mappingDraftOf = (mapping: SensorMapping): MappingDraft => ({
  format: mapping.format,
  model: mapping.model,
  match: mapping.match ?? '',
  topic: mapping.topic ?? '',
  device: mapping.device ?? '',
  time: mapping.time ?? '',
  values: {
    ...noValues,
    ...Object.fromEntries(mapping.values.map(({ sensor, template, unit = '' }) => [sensor, { template, unit }])),
  },
})

/** The mapping; it can only be saved if it has a model and a value. */
export function mappingOf({ format, model, match, topic, device, time, values }: MappingDraft): SensorMapping {
  const isJson = format === 'json'
  const texts = { match, topic: isJson ? topic : '', device: isJson ? device : '', time }
  const given = Object.entries(texts).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, text.trim()]]))
  return {
    format,
    model: model.trim(),
    ...Object.fromEntries(given),
    values: mappedValues.flatMap((sensor) => {
      const { template, unit } = values[sensor]
      return template.trim() === '' ? [] : [{ sensor, template: template.trim(), ...(unit !== '' && { unit }) }]
    }),
  }
}

/** A number of people and presence are one value of a sample, so a mapping has one of them. */
export const isMappingComplete = (draft: MappingDraft): boolean => {
  const { model, values, format, topic } = mappingOf(draft)
  const hasBoth = ['people', 'presence'].every((name) => values.some(({ sensor }) => sensor === name))
  return model !== '' && values.length > 0 && !hasBoth && (format !== 'json' || topic !== undefined)
}

export interface UnmappedModel {
  readonly format: SensorMapping['format']
  readonly model: string
  readonly topic: string | undefined
  readonly count: number
}

const mappedFormats: readonly string[] = ['things-stack', 'chirpstack', 'json']

/** The models whose messages need a mapping and have none, the most frequent first. */
export function unmappedModels(devices: readonly SourceDevice[]): UnmappedModel[] {
  const unmapped = devices.filter(
    ({ format = '', mapping, state }) =>
      mappedFormats.includes(format) && mapping === undefined && state !== 'EXCLUDED',
  )
  return [...Map.groupBy(unmapped, ({ format, model }) => `${format} ${model}`).values()]
    .map((group) => {
      const [{ format, model, topic }] = group as [SourceDevice, ...SourceDevice[]]
      return { format: format as SensorMapping['format'], model, topic, count: group.length }
    })
    .sort((a, b) => b.count - a.count)
}

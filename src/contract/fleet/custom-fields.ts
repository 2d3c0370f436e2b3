// Shapes of the values that an organisation adds to its resources: external ids, contacts, and custom fields with names of its own. [contract 5.5]

import Type from 'typebox'
import { OptionalOrNull, SingleLineText } from '../shape.ts'

export const maxExternalIdLength = 128
const externalIdText = 'Identifier in a system of the organisation, such as an asset database; unique among the'

/** In answers. `kind` is the plural noun of the things that have one. */
export const ExternalId = (kind: string) =>
  Type.Optional(Type.String({ description: `${externalIdText} ${kind}. Absent if not set.` }))
export const SentExternalId = (kind: string) =>
  OptionalOrNull(SingleLineText(maxExternalIdLength, `${externalIdText} ${kind}. Null clears it.`))

export const maxContactLength = 255
const contactText = 'Person or team to ask about the'
export const Contact = (noun: string) =>
  Type.Optional(Type.String({ description: `${contactText} ${noun}; absent if not set.` }))
export const SentContact = (noun: string) =>
  OptionalOrNull(SingleLineText(maxContactLength, `${contactText} ${noun}; null clears it.`))

export const customFieldName = '[a-z0-9_]{1,40}'
export const maxCustomFields = 20
export const maxCustomFieldLength = 255

/** The values of custom fields by name. */
export type CustomFields = Readonly<Record<string, string>>

export const CustomFields = Type.Optional(
  Type.Record(Type.String(), Type.String(), {
    description: 'Custom fields by name, in the order of the names; absent if there are none.',
  }),
)

/** Names the new texts, and the names that a request clears, of which there can be as many. */
export const SentCustomFields = OptionalOrNull(
  Type.Unsafe<Readonly<Record<string, string | null>>>({
    type: 'object',
    propertyNames: { pattern: `^${customFieldName}$`, description: '1 to 40 of a-z, 0-9 and _' },
    additionalProperties: Type.Union([SingleLineText(maxCustomFieldLength, 'Text of the field.'), Type.Null()]),
    maxProperties: 2 * maxCustomFields,
    description: `Custom fields by name, ${maxCustomFields} at most. A field that is not named keeps its text, and null clears it; null instead of the object clears all of them.`,
  }),
)

export const CustomFieldFilters = Type.Array(Type.String(), {
  maxItems: maxCustomFields,
  description:
    'Only those with this custom field, as `name:text`. If it is given several times, all of them must match.',
})

// The messages of the device protocol as one JSON Schema document, derived from their shapes.

import { ErrorBody } from '../error.ts'
import { GatewayTestResult } from '../fleet/gateways.ts'
import { FoundDevices, SourceTestResult, StructurePart } from '../fleet/sources.ts'
import {
  type DownKind,
  devicePaths,
  downMessages,
  downTopic,
  EnrolAnswer,
  EnrolRequest,
  GatewayDeviceList,
  GatewayEnrolRequest,
  type UpKind,
  upMessages,
  upTopic,
} from './protocol.ts'

type Json = { [key: string]: unknown }

/** Every shape that travels, and when. */
const shapes: readonly (readonly [shape: object, when: string])[] = [
  [EnrolRequest, `Body of POST ${devicePaths.enrol}.`],
  [EnrolAnswer, `Answer to POST ${devicePaths.enrol}, with status 200.`],
  [GatewayDeviceList, `Answer to GET ${devicePaths.gatewayDevices}, with status 200.`],
  [GatewayEnrolRequest, `Body of POST ${devicePaths.gatewayDevices}/{deviceId}/enrol. The answer is an EnrolAnswer.`],
  [GatewayTestResult, `Body of POST ${devicePaths.gatewayTests}/{testId}.`],
  [FoundDevices, `Body of POST ${devicePaths.gatewaySources}/{sourceId}/devices.`],
  [StructurePart, `Body of PUT ${devicePaths.gatewaySources}/{sourceId}/structure.`],
  [SourceTestResult, `Body of POST ${devicePaths.gatewaySourceTests}/{testId}.`],
  [ErrorBody, 'Answer to any HTTP request that failed.'],
  ...Object.entries(upMessages).map(
    ([kind, shape]) => [shape, `From the device, on ${upTopic('{endpointId}', kind as UpKind)}.`] as const,
  ),
  ...Object.entries(downMessages).map(
    ([kind, shape]) => [shape, `To the device, on ${downTopic('{endpointId}', kind as DownKind)}.`] as const,
  ),
]

export function deviceMessages(): Json {
  const definitions = new Map<string, Json>()
  for (const [shape, description] of shapes) {
    define({ ...(JSON.parse(JSON.stringify(shape)) as Json), description }, definitions)
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:roomkeeper:device-protocol:v1',
    title: 'Messages of the Roomkeeper device protocol, version 1',
    description: 'Keys that are not listed are allowed and ignored, by both sides.',
    $defs: Object.fromEntries(definitions),
  }
}

/** A shape with a name becomes a definition; what stays in its place is a reference. */
function define({ title, description, ...rest }: Json, definitions: Map<string, Json>): Json {
  const name = String(title).replace(/^(?:webpage|rpc)(?=[A-Z])/, '')
  if (!definitions.has(name)) {
    definitions.set(name, {})
    definitions.set(name, { ...(description !== undefined && { description }), ...walk(rest, definitions) })
  }
  return { $ref: `#/$defs/${name}` }
}

/** Formats that no other tool knows; the document, or the bounds of the field, say what they mean. */
const ownFormats: readonly unknown[] = ['line', 'lines', 'any', 'int32']

function walk(shape: Json, definitions: Map<string, Json>): Json {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside)
    if (typeof value !== 'object' || value === null) return value
    return 'title' in value && typeof value.title === 'string'
      ? define(value as Json, definitions)
      : walk(value as Json, definitions)
  }
  // TypeBox keeps something for itself under names with a tilde.
  const kept = ([key, value]: [string, unknown]) =>
    !key.startsWith('~') && !(key === 'format' && ownFormats.includes(value))
  return Object.fromEntries(
    Object.entries(shape)
      .filter(kept)
      .map(([key, value]) => [key, inside(value)]),
  )
}

// Merges a status report into the stored status, and into the readings, which change often and have a column of their own. [contract 5.1.readings]
import type { Static } from 'typebox'
import { minuteMs } from '../../../contract/durations.ts'
import type { Endpoint } from '../../../contract/fleet/endpoints.ts'

/** The fields of an endpoint that its device reports; any of them can be missing. */
export type ReportedStatus = Partial<Static<typeof Endpoint>>

/** The columns of an endpoint, both JSON objects. */
export interface StoredStatus {
  readonly status: string
  readonly readings: string
}

interface StoredReadings {
  readings?: ReportedStatus['readings']
  /** The strength of each wireless signal, in the order of `networks`. */
  signals?: readonly (number | null)[]
}

type Report = Readonly<Record<string, unknown>>

/** A device computes its start from its uptime, so the time differs a little in each report. */
const startTolerance = minuteMs

/** Changes only the fields that the report names; null removes a field. */
export function mergeReport(before: StoredStatus, report: Report): StoredStatus {
  const { readings, ...reported } = report
  const stored: Record<string, unknown> = JSON.parse(before.status)
  const networks = reported.networks as readonly ReportedNetwork[] | null | undefined
  const fields = { ...stored, ...reported }
  if (networks) fields.networks = networks.map(completeNetwork)
  if (isSameStart(stored.startedAt, reported.startedAt)) fields.startedAt = stored.startedAt
  for (const [name, key] of Object.entries(keysOfLists)) {
    const list = reported[name] as readonly Item[] | null | undefined
    if (list) fields[name] = withoutRepetitions(list, key)
  }
  return { status: withoutNulls(fields), readings: mergeReadings(before.readings, readings, networks) }
}

function mergeReadings(before: string, readings: unknown, networks: readonly ReportedNetwork[] | null | undefined) {
  if (readings === undefined && networks === undefined) return before
  const stored: StoredReadings = JSON.parse(before)
  const hasSignal = networks?.some(({ signalDbm }) => typeof signalDbm === 'number')
  return withoutNulls({
    ...stored,
    ...(readings !== undefined && { readings: readings && withoutRepetitions(readings as readonly Item[], 'name') }),
    ...(networks !== undefined && { signals: hasSignal ? networks?.map(({ signalDbm = null }) => signalDbm) : null }),
  })
}

/** Returns the fields as answers show them. */
export function shownStatus({ status, readings }: StoredStatus): ReportedStatus {
  const fields: ReportedStatus = JSON.parse(status)
  if (readings === '{}') return fields
  const { readings: list, signals }: StoredReadings = JSON.parse(readings)
  return {
    ...fields,
    ...(list && { readings: list }),
    ...(signals &&
      fields.networks && { networks: fields.networks.map((network, i) => withSignal(network, signals[i])) }),
  }
}

const withSignal = <N extends object>(network: N, signalDbm: number | null | undefined) =>
  typeof signalDbm === 'number' ? { ...network, signalDbm } : network

/** The key of the items of each list. Of several items with the same key, the last one counts. */
const keysOfLists = { peripherals: 'id', faults: 'code', facts: 'name' } as const
type Item = Readonly<Record<string, unknown>>

const withoutRepetitions = (list: readonly Item[], key: string): readonly Item[] => [
  ...new Map(list.map((item) => [item[key], item])).values(),
]

const isSameStart = (before: unknown, now: unknown): boolean =>
  typeof before === 'string' &&
  typeof now === 'string' &&
  Math.abs(Date.parse(now) - Date.parse(before)) < startTolerance

/** Null in a list keeps its place: it stands for a network without a signal. */
const withoutNulls = (fields: object): string =>
  JSON.stringify(fields, function (this: unknown, _, value) {
    return value === null && !Array.isArray(this) ? undefined : value
  })

interface ReportedNetwork {
  readonly addresses?: readonly object[]
  readonly gateway?: readonly object[]
  readonly signalDbm?: number | null
}

/** Clients rely on both lists, and on both addresses in each item. [contract 5.1.networks] */
function completeNetwork({ signalDbm: _, ...network }: ReportedNetwork) {
  return {
    ...network,
    addresses: (network.addresses ?? []).map((item) => ({ address: {}, broadcast: {}, ...item })),
    gateway: network.gateway ?? [],
  }
}

// Reads which units of a job are not healthy during their soak. [contract 12.states]

import { type JobActionType, jobActions } from '../../../../contract/jobs/action-table.ts'
import type { OrgReader } from '../../../db/handles.ts'
import type { PresenceTimes } from '../../../nodes/presence-sql.ts'
import {
  listChangedConnections,
  listIncidentsOfEndpoints,
  listIncidentsOfUnits,
  listLocationsOfUnits,
} from './health-store.ts'
import { type Health, judgeHealth, type UnitHealthFacts } from './judge-health.ts'

interface SoakingJob {
  readonly id: number
  readonly actionType: JobActionType
  /** The numbers of the soaking units that are read. */
  readonly units: readonly number[]
  /** The time at which the first unit began. */
  readonly firstBeganAt: number
  readonly isPaused?: boolean
}

/** Returns the health of soaking units, without those that are healthy. Call it only if there are soaking units. */
export async function readHealth(
  on: OrgReader,
  job: SoakingJob,
  times: PresenceTimes,
): Promise<ReadonlyMap<number, Health>> {
  const { id, units } = job
  const { now } = times
  const connections = Map.groupBy(await listChangedConnections(on, { ...times, job: id, units }), ({ unit }) => unit)
  const since = { job: id, units, since: job.firstBeganAt }
  // An endpoint without a room, and one that was moved, is in no room of its unit.
  const opened = [...(await listIncidentsOfUnits(on, since)), ...(await listIncidentsOfEndpoints(on, since))]
  const incidents = Map.groupBy(opened, ({ unit }) => unit)
  const factsOf = (unit: number): Omit<UnitHealthFacts, 'locations'> => ({
    now,
    ...(job.isPaused && { isPaused: true }),
    isRestarted: jobActions[job.actionType].restarts,
    endpoints: (connections.get(unit) ?? []).map(({ name, state, changed_at, disconnects }) => ({
      name,
      state,
      changedAt: changed_at,
      disconnects: Number(disconnects),
    })),
    incidents: incidents.get(unit) ?? [],
  })
  const affected = [...new Set([...connections.keys(), ...incidents.keys()])]
  const unhealthy = affected.filter((unit) => judgeHealth({ ...factsOf(unit), locations: [] }).state !== 'healthy')
  if (unhealthy.length === 0) return new Map()
  const rows = await listLocationsOfUnits(on, { ...times, job: job.id, units: unhealthy })
  const locations = Map.groupBy(rows, ({ unit }) => unit)
  return new Map(
    unhealthy.map((unit) => {
      const around = (locations.get(unit) ?? []).map(({ name, endpoints, offline, offline_in_unit }) => ({
        name,
        endpointCount: Number(endpoints),
        offlineCount: Number(offline),
        offlineInUnitCount: Number(offline_in_unit),
      }))
      return [unit, judgeHealth({ ...factsOf(unit), locations: around })]
    }),
  )
}

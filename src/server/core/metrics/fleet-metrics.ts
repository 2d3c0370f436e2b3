// The Prometheus metrics that are counted in the database: endpoints and rooms by state, and sessions of people. [contract D.10]
import { Gauge, type Registry } from 'prom-client'

/** The counts over all organisations. */
export interface FleetSummary {
  readonly endpoints: Readonly<Record<'ONLINE' | 'UNKNOWN' | 'ASLEEP' | 'OFFLINE', number>>
  readonly rooms: Readonly<Record<string, number>>
  readonly userSessions: number
}

/** Registers the metrics. They have no values while there is no count. */
export function watchFleet(registry: Registry, current: () => Promise<FleetSummary | undefined>): void {
  const registers = [registry]
  new Gauge({
    name: 'roomkeeper_endpoints',
    help: 'Enrolled endpoints, by whether their device is connected.',
    labelNames: ['connected'],
    registers,
    async collect() {
      const fleet = await current()
      this.reset()
      if (!fleet) return
      const { ONLINE, UNKNOWN, ASLEEP, OFFLINE } = fleet.endpoints
      this.set({ connected: 'true' }, ONLINE)
      this.set({ connected: 'false' }, UNKNOWN + ASLEEP + OFFLINE)
    },
  })
  new Gauge({
    name: 'roomkeeper_endpoint_states',
    help: 'Enrolled endpoints, by state: ONLINE, UNKNOWN, ASLEEP or OFFLINE, as in the API.',
    labelNames: ['state'],
    registers,
    async collect() {
      const fleet = await current()
      this.reset()
      for (const [state, count] of Object.entries(fleet?.endpoints ?? {})) this.set({ state }, count)
    },
  })
  new Gauge({
    name: 'roomkeeper_rooms',
    help: 'Rooms, by state: EMPTY, OFFLINE, DEGRADED, UNKNOWN or HEALTHY, as in the API.',
    labelNames: ['state'],
    registers,
    async collect() {
      const fleet = await current()
      this.reset()
      for (const [state, count] of Object.entries(fleet?.rooms ?? {})) this.set({ state }, count)
    },
  })
  new Gauge({
    name: 'roomkeeper_user_sessions',
    help: 'Sessions of people who are signed in.',
    registers,
    async collect() {
      const fleet = await current()
      if (fleet) this.set(fleet.userSessions)
      else this.remove()
    },
  })
}

// A fleet in memory with the pure parts of the engine of incidents: findings and incidents advance as the test lets time pass.

import type { ChannelEvent } from '../../../src/contract/channels/messages.ts'
import { minuteMs } from '../../../src/contract/durations.ts'
import type { TimelineKind } from '../../../src/contract/incidents/incidents.ts'
import type { RuleId } from '../../../src/contract/incidents/rule-table.ts'
import { advanceFindings } from '../../../src/server/incidents/engine/findings.ts'
import { groupFindings } from '../../../src/server/incidents/engine/grouping/grouping.ts'
import type { EngineIncident } from '../../../src/server/incidents/engine/grouping/incident-drafts.ts'
import type { FailedRestart } from '../../../src/server/incidents/engine/restarts/settle.ts'
import type {
  Finding,
  FindingDetail,
  Observation,
  RulesInForce,
  Structure,
  StructureEndpoint,
  StructureLocation,
  StructureRoom,
  Subject,
} from '../../../src/server/incidents/engine/types.ts'
import { defaultRules } from '../../../src/server/incidents/incident-rules/in-force.ts'

export const worldStart = Date.UTC(2026, 4, 4, 8)

interface Link {
  isConnected: boolean
  since: number
}

export class IncidentWorld {
  readonly endpoints = new Map<string, StructureEndpoint>()
  readonly rooms = new Map<number, StructureRoom>()
  readonly locations = new Map<number, StructureLocation>()
  readonly links = new Map<string, Link>()
  /** Conditions of other rules that hold now. */
  readonly conditions = new Map<string, Observation>()
  /** Until when a silence covers each of these devices. */
  readonly silencedUntil = new Map<string, number>()
  readonly told: { id: number; event: ChannelEvent; at: number }[] = []
  /** The kinds of all entries of the timelines. */
  readonly entries: TimelineKind[] = []
  rules: RulesInForce = defaultRules
  findings: readonly Finding[] = []
  incidents: EngineIncident[] = []
  failedRestarts: readonly FailedRestart[] = []
  /** Devices that are asleep or cannot be seen. */
  readonly leftOut = new Set<string>()
  now = worldStart
  #structure: Structure | undefined
  #lastId = 0

  /** Adds a location with this many rooms, each with this many devices, and returns the ids of the devices by room. */
  addLocation(id: number, rooms: number, devicesPerRoom = 1): string[][] {
    this.locations.set(id, { id, name: `Location ${id}`, regionId: null, timezone: null })
    return Array.from({ length: rooms }, (_, i) => this.addRoom(id * 1000 + i, id, devicesPerRoom))
  }

  addRoom(id: number, locationId: number | null, devices: number): string[] {
    this.rooms.set(id, { id, name: `Room ${id}`, locationId })
    return Array.from({ length: devices }, (_, i) => this.addDevice(`${id}-${i}`, id))
  }

  addDevice(id: string, roomId: number | null, values: Partial<StructureEndpoint> = {}): string {
    const endpoint = {
      id,
      name: `Bar ${id}`,
      model: 'Bar',
      roomId,
      wasConnected: true,
      via: null,
      pairGroup: undefined,
      ...values,
    }
    this.endpoints.set(id, endpoint)
    if (endpoint.wasConnected) this.links.set(id, { isConnected: true, since: this.now })
    this.#structure = undefined
    return id
  }

  cut(...ids: string[]): void {
    for (const id of ids) this.#setLink(id, false)
  }

  connect(...ids: string[]): void {
    for (const id of ids) this.#setLink(id, true)
  }

  observe(rule: RuleId, subject: Subject, state: Observation['state'], detail: FindingDetail = {}): void {
    this.conditions.set(`${rule} ${subject.id}`, { rule, subject, state, detail })
  }

  /** Lets time pass in steps, and runs the engine after each. */
  pass(ms: number, stepMs = 10_000): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now = Math.min(end, this.now + stepMs)
      this.run()
    }
  }

  run(): void {
    const { now, rules } = this
    const links = [...this.links].map(([id, { isConnected, since }]): Observation => {
      const subject = { type: 'endpoint', id } as const
      return { rule: 'device.offline', subject, state: isConnected ? 'clear' : 'holds', since }
    })
    const advanced = advanceFindings({
      findings: this.findings,
      observations: [...links, ...this.conditions.values()],
      observedRules: new Set(Object.keys(rules) as RuleId[]),
      rules,
      now,
      isSilenced: (_, { id }) => this.#isSilenced(id),
      presenceFrom: () => undefined,
      isGone: ({ subject }) => subject.type === 'endpoint' && !this.endpoints.has(subject.id),
    })
    this.#structure ??= {
      orgId: 'org',
      orgName: 'Example',
      timezone: 'UTC',
      endpoints: new Map(this.endpoints),
      gateways: new Set([...this.endpoints.values()].flatMap(({ via }) => via ?? [])),
      rooms: new Map(this.rooms),
      locations: new Map(this.locations),
    }
    const updates = groupFindings({
      now,
      rules,
      structure: this.#structure,
      findings: advanced.findings,
      ended: advanced.ended.map(({ finding }) => finding),
      incidents: this.incidents.filter(
        ({ causeEndedAt, flapping }) => causeEndedAt === null || causeEndedAt > now - 60 * minuteMs || flapping,
      ),
      failedRestarts: this.failedRestarts,
      justOffline: new Map(
        [...this.links]
          .filter(([id, { isConnected }]) => !isConnected && !this.#isSilenced(id))
          .map(([id, { since }]) => [id, since]),
      ),
      leftOut: this.leftOut,
      isSilenced: ({ subject }) => this.#isSilenced(subject.id),
      nameOf: (_, id) => `name of ${id}`,
    })
    this.failedRestarts = []
    this.#store(advanced.findings, updates)
  }

  #store(findings: readonly Finding[], updates: ReturnType<typeof groupFindings>): void {
    // New incidents have negative ids until they are stored.
    const ids = new Map(updates.map(({ after }) => [after.id, after.id < 0 ? ++this.#lastId : after.id]))
    const incidentOf = new Map<Finding, number>()
    for (const { before, after, joined, messages, timeline } of updates) {
      const id = ids.get(after.id) as number
      const mergedInto = after.mergedInto === null ? null : (ids.get(after.mergedInto) ?? after.mergedInto)
      const stored = { ...after, id, mergedInto }
      this.incidents = before ? this.incidents.map((i) => (i.id === id ? stored : i)) : [...this.incidents, stored]
      for (const finding of joined) incidentOf.set(finding, id)
      this.entries.push(...timeline)
      for (const event of messages) this.told.push({ id, event, at: this.now })
    }
    this.findings = findings.map((f) => ({ ...f, incidentId: incidentOf.get(f) ?? f.incidentId }))
  }

  #isSilenced(id: string): boolean {
    return this.now < (this.silencedUntil.get(id) ?? 0)
  }

  #setLink(id: string, isConnected: boolean): void {
    const link = this.links.get(id)
    if (link?.isConnected !== isConnected) this.links.set(id, { isConnected, since: this.now })
  }

  get open(): EngineIncident[] {
    return this.incidents.filter(({ state }) => state === 'OPEN' || state === 'ACKNOWLEDGED')
  }

  /** The open incidents in short: `LOCATION 1: 4` is one about location 1 with 4 findings. */
  get openCauses(): string[] {
    return this.open.map(({ id, level, causeId }) => `${level} ${causeId}: ${this.membersOf(id).length}`).sort()
  }

  membersOf(id: number): readonly Finding[] {
    return this.findings.filter(({ incidentId }) => incidentId === id)
  }
}

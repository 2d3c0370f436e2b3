// Gives a new demo its past week: a server without ports lives through it in simulated time, by the same rules as any other server.
import { dayMs, hourMs, minuteMs } from '../../contract/durations.ts'
import type { ServeOptions } from '../../server/config/server-options.ts'
import { type RequestContext, unrestrictedContext } from '../../server/context/request-context.ts'
import type { Log } from '../../server/core/log.ts'
import { timeLimits } from '../../server/core/time-limits.ts'
import { type FirstStart, firstStart, firstStartActor } from '../../server/first-start.ts'
import { roomNotesCreate } from '../../server/fleet/notes/rules.ts'
import {
  incidentsAcknowledge,
  incidentsAssign,
  incidentsComment,
  incidentsSnooze,
} from '../../server/incidents/actions.ts'
import { incidentsList } from '../../server/incidents/rules.ts'
import { listOrgs } from '../../server/journal/orgs/store.ts'
import { openCore } from '../../server/phases/core.ts'
import { makeResources } from '../../server/phases/resources.ts'
import type { FleetPlan } from '../../simulator/plan.ts'
import { type BrokenDevices, type DemoDevice, PastDevices } from './past-devices.ts'
import { type DemoPeople, makePeople, makePlaces } from './past-places.ts'

export interface DemoPast extends Required<FirstStart> {
  /** The devices that the fleet runs from now on. */
  readonly devices: readonly DemoDevice[]
}

/** The week begins a little earlier, so that every device was online before its first outage. */
const pastMs = 7.5 * dayMs
/** The engine finds an offline device after five minutes, and its return after two. */
const closeStepMs = minuteMs
const closeStepsForMs = 10 * minuteMs
const wideStepMs = 15 * minuteMs
const wideStepsForMs = 2 * hourMs

/** Undefined if the database has an organisation already. */
export async function livePastWeek(
  options: ServeOptions,
  log: Log,
  onLost: () => void,
  planOf: (org: string) => FleetPlan,
): Promise<DemoPast | undefined> {
  const end = Date.now()
  let now = end - pastMs
  const stack = new AsyncDisposableStack()
  try {
    const core = await openCore(stack, { options, log, clock: { now: () => now }, limits: timeLimits, onLost })
    const { services } = core
    if ((await listOrgs(services.db.system)).length > 0) return undefined
    const { incidents } = await makeResources(core)
    const first = await firstStart(services, true)
    if (!first) return undefined
    const [org] = await listOrgs(services.db.system)
    if (!org) return undefined
    const ctx = unrestrictedContext(services, org, firstStartActor)
    const plan = planOf(org.id)
    const places = await makePlaces(ctx, plan)
    const people = await makePeople(services, org, ctx, places)
    const devices = new PastDevices(services)
    await devices.enrolFleet(plan, places)
    const broken = await devices.enrolBroken(places)

    const signal = new AbortController().signal
    const look = () => incidents.run(services, org, signal)
    const story = storyOf({ end, plan, people, places, devices, broken, ctx })
    let denseUntil = now
    let wideUntil = now
    for (const { at, isLong, happen } of story) {
      while (now < at) {
        const step = now < denseUntil ? closeStepMs : now < wideUntil ? wideStepMs : at - now
        now = Math.min(at, now + step)
        await look()
      }
      await happen()
      if (isLong) [denseUntil, wideUntil] = [now + closeStepsForMs, now + wideStepsForMs]
    }
    now = end
    await look()
    return { org: first.org, key: first.key, devices: devices.ofFleet }
  } finally {
    now = Date.now()
    await stack.disposeAsync()
  }
}

interface Event {
  readonly at: number
  /** The engine looks often after it. */
  readonly isLong: boolean
  readonly happen: () => Promise<unknown>
}

interface StoryInput {
  readonly end: number
  readonly plan: FleetPlan
  readonly people: DemoPeople
  readonly places: Awaited<ReturnType<typeof makePlaces>>
  readonly devices: PastDevices
  readonly broken: BrokenDevices
  readonly ctx: RequestContext
}

/** Everything that happens in the week, in its order. */
function storyOf({ end, plan, people, places, devices, broken, ctx }: StoryInput): Event[] {
  const events: Event[] = []
  const add = (at: number, happen: Event['happen'], isLong = true) => events.push({ at, isLong, happen })
  const away = (hoursAgo: number, minutes: number, serials: readonly string[]) => {
    const at = end - hoursAgo * hourMs
    const isLong = minutes >= 5
    add(at, () => devices.disconnect(serials), isLong)
    add(at + minutes * minuteMs, () => devices.connect(serials), isLong)
    return at
  }
  /** A person does something about the newest open incident. */
  const about = (at: number, act: (incident: string) => Promise<unknown>) =>
    add(at, async () => {
      const [newest] = (await incidentsList(ctx, {})).incidents
      if (newest) await act(newest.id)
    })
  const inRoom = (room: number) => plan.devices.filter((device) => device.room === plan.rooms[room])
  const serialsOf = (list: readonly { serial: string }[]) => list.map(({ serial }) => serial)
  const { nora, jonas } = people

  add(end - pastMs + minuteMs, () => devices.connect([...serialsOf(plan.devices), ...Object.values(broken)]))
  // A device or two lose their connection for a few minutes each day.
  for (let day = 1; day <= 7; day++) {
    for (const n of [0, 1]) {
      const device = plan.devices[(day * 17 + n * 29) % plan.devices.length]
      if (device) away(day * 24 - 3 - n * 7, 1 + ((day + n) % 4), [device.serial])
    }
  }

  const atlas = away(150, 47, serialsOf(inRoom(9)))
  about(atlas + 9 * minuteMs, (id) =>
    incidentsAcknowledge(nora.ctx, id, { note: 'The power strip was switched off. Facilities are on their way.' }),
  )

  const site = plan.rooms[1]?.location
  const atSite = serialsOf(plan.devices.filter(({ room }) => room.location === site))
  const outage = away(111, 24, atSite)
  about(outage + 8 * minuteMs, (id) => incidentsAcknowledge(people.ada.ctx, id, {}))
  about(outage + 12 * minuteMs, (id) =>
    incidentsComment(people.ada.ctx, id, { text: 'The network team updates the switches until half past.' }),
  )

  const flapping = serialsOf(inRoom(6)).slice(0, 1)
  for (let drop = 0; drop < 8; drop++) away(75 - drop / 12, 1, flapping)
  about(end - 74 * hourMs, (id) =>
    incidentsComment(jonas.ctx, id, { text: 'The network cable was loose. I replaced it.' }),
  )

  const repeated = serialsOf(inRoom(2)).slice(0, 1)
  const night = away(52, 210, repeated)
  about(night + 20 * minuteMs, (id) => incidentsAssign(nora.ctx, id, { userId: nora.id }))
  away(31, 50, repeated)
  away(9, 18, serialsOf(inRoom(14)))

  // These devices are still away.
  add(end - 26 * hourMs, () => devices.disconnect([broken.pad]))
  about(end - 25.8 * hourMs, async (id) => {
    await incidentsAssign(nora.ctx, id, { userId: jonas.id })
    await incidentsSnooze(jonas.ctx, id, { until: new Date(end + 3 * dayMs).toISOString() })
    await roomNotesCreate(jonas.ctx, places.padRoom, 'One Pad of this room is away for repair.')
  })
  add(end - 5 * hourMs, () => devices.disconnect([broken.board]))
  about(end - 4.7 * hourMs, async (id) => {
    await incidentsAcknowledge(nora.ctx, id, {})
    await roomNotesCreate(nora.ctx, places.basement.id, 'The network switch is broken. A new one is on order.')
  })
  add(end - 2.2 * hourMs, () => devices.disconnect([broken.frame]))
  add(end - 35 * minuteMs, () => devices.disconnect([broken.bar]))
  return events.toSorted((a, b) => a.at - b.at)
}

// Runs a fleet until it is told to stop, and says how far it is.
import { explained } from './failure.ts'
import { Fleet, type FleetOptions } from './fleet.ts'

export interface Watcher {
  /** While something is under way: a line a second. */
  progress(line: string): void
  /** What is worth keeping. */
  say(line: string): void
  /** Everything is there and connected; it goes on when this is done. */
  built?(): Promise<void>
}

export async function simulate(options: FleetOptions, watcher: Watcher, signal: AbortSignal): Promise<void> {
  const fleet = new Fleet(options, signal)
  // What it is before anything has happened is no progress.
  let last = progressOf(fleet, options)
  const report = () => {
    const line = progressOf(fleet, options)
    if (line !== last) watcher.progress(line)
    last = line
  }
  const reporting = setInterval(report, 1_000)
  try {
    await fleet.build()
    await watcher.built?.()
    report()
    const { connected } = fleet.tally
    const { endpoints, rooms, interval, backfill } = options
    watcher.say(
      `${count(connected)} of ${count(endpoints)} devices in ${count(rooms)} rooms are connected to ${options.url}, each with a sample every ${interval} s. Ctrl-C ends.`,
    )
    await fleet.recall()
    clearInterval(reporting)
    if (backfill > 0) watcher.say(`Their past is there: ${count(fleet.tally.samples)} samples so far.`)
    await new Promise((resolve) => {
      if (signal.aborted) resolve(undefined)
      else signal.addEventListener('abort', resolve, { once: true })
    })
  } catch (error) {
    if (!signal.aborted) throw explained(error, options)
  } finally {
    clearInterval(reporting)
    await fleet.stop()
  }
  watcher.say(summaryOf(fleet))
}

function progressOf({ plan, built, tally }: Fleet, { backfill }: FleetOptions): string {
  const { regions, locations, rooms, devices } = plan
  if (built.rooms < rooms.length) {
    return `regions ${built.regions}/${regions.length}, locations ${built.locations}/${locations.length}, rooms ${built.rooms}/${rooms.length}`
  }
  const joining = `rooms ${built.rooms}/${rooms.length}, enrolled ${built.enrolled}/${devices.length}, connected ${tally.connected}`
  return backfill > 0 && built.recalled > 0
    ? `${joining}, past of ${built.recalled}/${devices.length}, samples ${tally.samples}`
    : joining
}

function summaryOf({ tally, built }: Fleet): string {
  const done = [
    `${count(tally.samples)} samples`,
    ...(tally.refused > 0 ? [`${count(tally.refused)} of them refused`] : []),
    `${count(tally.configs)} configs`,
    `${count(tally.reboots)} reboots`,
    `${count(tally.messages)} messages`,
    `${count(tally.bundles)} log bundles`,
    ...(tally.unenrolled > 0 ? [`${count(tally.unenrolled)} unenrolled`] : []),
  ]
  return `Stopped ${count(built.enrolled)} devices after ${done.join(', ')}. Run it again to continue.`
}

const count = (n: number) => n.toLocaleString('en')

// Runs a fleet until the signal aborts, and reports its progress.

import { Fleet, type FleetOptions } from './fleet.ts'
import { explainFleetError } from './fleet-error.ts'

export interface FleetObserver {
  /** Called at most once a second with the progress. */
  onProgress(line: string): void
  /** Called with results. */
  onResult(line: string): void
  /** Awaited when all devices are enrolled and connected. */
  onConnected?(): Promise<void>
}

export async function simulate(options: FleetOptions, observer: FleetObserver, signal: AbortSignal): Promise<void> {
  const fleet = new Fleet(options, signal)
  // The state before the start is not reported as progress.
  let last = progressOf(fleet, options)
  const report = () => {
    const line = progressOf(fleet, options)
    if (line !== last) observer.onProgress(line)
    last = line
  }
  const reporting = setInterval(report, 1_000)
  try {
    await fleet.build()
    await observer.onConnected?.()
    report()
    const { connected } = fleet.counters
    const { endpoints, rooms, intervalSeconds, backfillMs } = options
    observer.onResult(
      `${count(connected)} of ${count(endpoints)} devices in ${count(rooms)} rooms are connected to ${options.url} and send a sample every ${intervalSeconds} s. Stop with Ctrl-C.`,
    )
    await fleet.sendBackfill()
    clearInterval(reporting)
    if (backfillMs > 0) observer.onResult(`History sent: ${count(fleet.counters.samples)} samples so far.`)
    await new Promise((resolve) => {
      if (signal.aborted) resolve(undefined)
      else signal.addEventListener('abort', resolve, { once: true })
    })
  } catch (error) {
    if (!signal.aborted) throw explainFleetError(error, options)
  } finally {
    clearInterval(reporting)
    await fleet.stop()
  }
  observer.onResult(summaryOf(fleet))
}

function progressOf({ plan, progress, counters }: Fleet, { backfillMs }: FleetOptions): string {
  const { regions, locations, rooms, devices } = plan
  if (progress.rooms < rooms.length) {
    return `regions ${progress.regions}/${regions.length}, locations ${progress.locations}/${locations.length}, rooms ${progress.rooms}/${rooms.length}`
  }
  const joining = `rooms ${progress.rooms}/${rooms.length}, enrolled ${progress.enrolled}/${devices.length}, connected ${counters.connected}`
  return backfillMs > 0 && progress.backfilled > 0
    ? `${joining}, history ${progress.backfilled}/${devices.length}, samples ${counters.samples}`
    : joining
}

function summaryOf({ counters, progress }: Fleet): string {
  const done = [
    `${count(counters.samples)} samples`,
    ...(counters.refused > 0 ? [`${count(counters.refused)} of them refused`] : []),
    ...(counters.badMessages > 0 ? [`${count(counters.badMessages)} messages that the service refused`] : []),
    `${count(counters.configs)} configs`,
    `${count(counters.reboots)} reboots`,
    ...(counters.refusedReboots > 0 ? [`${count(counters.refusedReboots)} reboots refused by devices in use`] : []),
    `${count(counters.messages)} messages`,
    `${count(counters.bundles)} log bundles`,
    ...(counters.unenrolled > 0 ? [`${count(counters.unenrolled)} unenrolled`] : []),
  ]
  return `Stopped ${count(progress.enrolled)} devices after ${done.join(', ')}. Run the same command again to continue.`
}

const count = (n: number) => n.toLocaleString('en')

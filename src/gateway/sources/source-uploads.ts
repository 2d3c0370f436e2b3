// Sends what a source has told to the server, and again until the server has it: its devices in batches, and its structure.
import { setTimeout as pause } from 'node:timers/promises'
import { backOffMs } from '../../client/back-off.ts'
import { minuteMs, secondMs } from '../../contract/durations.ts'
import {
  type FoundDevice,
  type FoundDevices,
  maxSourceDevicesPerRequest,
  type ReportedStructure,
} from '../../contract/fleet/sources.ts'
import { ServerRefusal } from '../server-client.ts'
import type { KnownDevices } from './known-devices.ts'

/** Devices that are found within this time go up together. */
const collectMs = 500
/** After each round of batches, for each batch in it: a source that tells the same again and again must not keep the server busy. */
const restMs = 2 * secondMs
const retryBackOff = { firstMs: secondMs, maxMs: minuteMs }
/** The server will refuse the same body again. */
const finalStatuses: readonly unknown[] = [400, 413, 422]

type Structure = Omit<ReportedStructure, 'revision'>

export interface UploadOptions {
  readonly devices: KnownDevices
  /** A report counts for the present revision of the source only. */
  readonly revision: () => number
  readonly reportFound: (report: FoundDevices, signal: AbortSignal) => Promise<void>
  readonly reportStructure: (report: ReportedStructure, signal: AbortSignal) => Promise<void>
  readonly log: (line: string) => void
}

export class SourceUploads {
  readonly #options: UploadOptions
  readonly #signal: AbortSignal
  #structure: Structure | undefined
  #isStructureSent = true
  #isRunning = false
  #isAnnounced = false
  /** Counts what makes everything go up again. */
  #round = 0

  constructor(options: UploadOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
  }

  setStructure(structure: Structure | undefined): void {
    this.#structure = structure
    this.#isStructureSent = structure === undefined
    this.wake()
  }

  /** The server has another revision of the source, or less than was sent: it ignored reports, or restored a backup. */
  sendAgain({ devices, structure }: { readonly devices: boolean; readonly structure: boolean }): void {
    if (devices) {
      this.#round++
      this.#options.devices.markAllUnsent()
    }
    if (structure && this.#structure) this.#isStructureSent = false
    this.wake()
  }

  /** Call after devices have changed. */
  wake(): void {
    if (this.#isRunning || this.#signal.aborted || !this.#hasWork()) return
    this.#isRunning = true
    this.#run()
      .catch(() => {}) // only when the signal aborts
      .finally(() => {
        this.#isRunning = false
        this.wake()
      })
  }

  #hasWork(): boolean {
    const { devices } = this.#options
    return devices.unsentCount > 0 || devices.isListUnsent || !this.#isStructureSent
  }

  async #run(): Promise<void> {
    const signal = this.#signal
    await pause(collectMs, undefined, { signal })
    for (let failures = 0; this.#hasWork(); ) {
      try {
        await this.#sendStructure()
        const batches = (await this.#sendDevices()) + (await this.#sendList())
        failures = 0
        this.#isAnnounced = false
        await pause(restMs * batches, undefined, { signal })
      } catch (error) {
        signal.throwIfAborted()
        const { message, retryAfterMs } = error as ServerRefusal
        // A server that is away has one line.
        if (!this.#isAnnounced) this.#options.log(`what was found is not reported yet: ${message}`)
        this.#isAnnounced = true
        await pause(retryAfterMs ?? backOffMs(failures++, retryBackOff), undefined, { signal })
      }
    }
  }

  async #sendStructure(): Promise<void> {
    const structure = this.#structure
    if (this.#isStructureSent || !structure) return
    const { revision, reportStructure, log } = this.#options
    const sentRevision = revision()
    try {
      await reportStructure({ revision: sentRevision, ...structure }, this.#signal)
    } catch (error) {
      if (!isFinal(error)) throw error
      log(`the server refused the structure: ${(error as Error).message}`)
    }
    if (this.#structure === structure && revision() === sentRevision) this.#isStructureSent = true
  }

  /** Sends every device that has changed by now, and returns the number of batches. */
  async #sendDevices(): Promise<number> {
    const { devices } = this.#options
    let batches = 0
    for (let left = devices.unsentCount; left > 0; left -= maxSourceDevicesPerRequest) {
      const batch = devices.unsent(Math.min(left, maxSourceDevicesPerRequest))
      if (batch.length === 0) break
      await this.#sendBatch(batch)
      batches++
    }
    return batches
  }

  /** After the devices of the list. Once is enough: later on, a device that is missing is sent as such. */
  async #sendList(): Promise<number> {
    const { devices, revision, reportFound, log } = this.#options
    const listed = devices.unsentList
    if (!listed || devices.unsentCount > 0) return 0
    const round = this.#round
    try {
      await reportFound({ revision: revision(), devices: [], listed: [...listed] }, this.#signal)
    } catch (error) {
      if (!isFinal(error)) throw error
      log(`the server refused the list of devices: ${(error as Error).message}`)
    }
    if (this.#round === round) devices.markListSent()
    return 1
  }

  /** The server refuses a batch because of one device in it, or because it is too large: its halves are sent. */
  async #sendBatch(batch: readonly FoundDevice[]): Promise<void> {
    const { devices, revision, reportFound, log } = this.#options
    const round = this.#round
    try {
      await reportFound({ revision: revision(), devices: [...batch] }, this.#signal)
    } catch (error) {
      if (!isFinal(error)) throw error
      if (batch.length > 1) {
        const half = Math.ceil(batch.length / 2)
        await this.#sendBatch(batch.slice(0, half))
        await this.#sendBatch(batch.slice(half))
        return
      }
      log(`the server refused device ${batch[0]?.key}: ${(error as Error).message}`)
    }
    // Meanwhile the revision may have changed: then the server has ignored the batch.
    if (this.#round === round) devices.markSent(batch)
  }
}

const isFinal = (error: unknown): boolean => error instanceof ServerRefusal && finalStatuses.includes(error.status)

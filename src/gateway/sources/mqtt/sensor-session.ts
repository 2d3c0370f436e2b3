// The session of one adopted sensor: sends its values up, repeats those that still hold, and says whether it can be heard.
import { EventEmitter } from 'node:events'
import type { Sensor } from '../../../contract/device/models.ts'
import type { DeviceSample, UpMessage } from '../../../contract/device/protocol.ts'
import type { DeviceIdentity, DriverSession, SessionEvents } from '../../driver.ts'
import type { DeviceMemory } from '../source.ts'
import type { MqttLimits } from './limits.ts'
import type { RememberedDevice, SensorDevice } from './sensor-device.ts'

/** Presence is saved soon, because a room in use must not look idle after a restart. */
const savePresenceMs = 10_000

export interface SensorSessionOptions {
  readonly device: SensorDevice
  readonly memory: DeviceMemory
  readonly limits: MqttLimits
  readonly isShared: (topic: string) => boolean
  readonly nowMs: () => number
  readonly log: (line: string) => void
  readonly onClosed: () => void
}

export class SensorSession extends EventEmitter<SessionEvents> implements DriverSession {
  readonly identity: DeviceIdentity
  readonly #options: SensorSessionOptions
  readonly #sentAtMs = new Map<Sensor, number>()
  #status: string
  #statusAtMs: number
  #offlineBecause: string | undefined
  #savedAtMs: number
  #savedPeople: number | undefined
  #isClosed = false

  constructor(options: SensorSessionOptions) {
    super()
    this.#options = options
    const { device, nowMs } = options
    const { model, manufacturer, serial, firmwareVersion } = device.description
    this.identity = { model, manufacturer, serial, firmwareVersion }
    this.#status = JSON.stringify(this.status())
    this.#statusAtMs = nowMs()
    this.#savedAtMs = 0
    this.#offlineBecause = device.offlineBecause(nowMs(), options.isShared)
  }

  get offlineBecause(): string | undefined {
    return this.#offlineBecause
  }

  status(): UpMessage<'status'> {
    const { device } = this.#options
    const { name, area, hardwareVersion, firmwareVersion } = device.description
    return {
      kind: 'SENSOR',
      sensors: [...device.sensors],
      peopleIs: device.isPresence ? 'PRESENCE' : 'COUNT',
      readings: device.readings(),
      ...(name !== undefined && { name }),
      ...(hardwareVersion !== undefined && { hardwareVersion }),
      ...(firmwareVersion !== undefined && { firmwareVersion }),
      ...(area !== undefined && { facts: [{ name: 'area', text: area }] }),
    }
  }

  /** A message of the device had these values. */
  measured(values: Partial<Record<Sensor, number>>, atMs: number): void {
    if (this.#isClosed || Object.keys(values).length === 0) return
    const now = this.#options.nowMs()
    for (const sensor of Object.keys(values) as Sensor[]) this.#sentAtMs.set(sensor, now)
    this.emit('sample', { timestamp: Math.floor(atMs / 1000), ...values } as DeviceSample)
  }

  /** Called each second. */
  tick(): void {
    if (this.#isClosed) return
    const { device, isShared, nowMs, limits } = this.#options
    const now = nowMs()
    const reason = device.offlineBecause(now, isShared)
    // The duration in a reason grows; only a change between online and offline is news.
    const isChange = (reason === undefined) !== (this.#offlineBecause === undefined)
    if (isChange) {
      this.#offlineBecause = reason
      this.emit('presence')
    }
    if (reason === undefined) this.#repeat(now)
    if (isChange || now - this.#statusAtMs >= limits.readingsEveryMs || device.changed === 'soon') this.#sendStatus(now)
    this.#save(now)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#options.onClosed()
  }

  /** Many sensors report only changes. Without repetition a long meeting would look idle. */
  #repeat(now: number): void {
    const { device, limits } = this.#options
    const due: Partial<Record<Sensor, number>> = {}
    for (const [sensor, { value, atMs, isRetained }] of Object.entries(device.values(now)) as [
      Sensor,
      { value: number; atMs: number; isRetained: boolean },
    ][]) {
      // A retained value has no age. It counts if the sensor itself says that it is available.
      if (isRetained && !device.isKnownAvailable) continue
      const isOccupied = sensor === 'people' && value > 0
      const everyMs = isOccupied ? limits.occupiedEveryMs : limits.othersEveryMs
      const isOver = !isOccupied && now - atMs > limits.othersForMs
      if (!isOver && now - (this.#sentAtMs.get(sensor) ?? Number.NEGATIVE_INFINITY) >= everyMs) due[sensor] = value
    }
    this.measured(due, now)
  }

  #sendStatus(now: number): void {
    const status = this.status()
    const text = JSON.stringify(status)
    if (text === this.#status) return
    this.#status = text
    this.#statusAtMs = now
    this.emit('status', status)
  }

  #save(now: number): void {
    const { device, memory, limits, log } = this.#options
    const sinceMs = now - this.#savedAtMs
    if (sinceMs < savePresenceMs) return
    const people = device.values(now).people?.value
    if (sinceMs < limits.saveEveryMs && people === this.#savedPeople) return
    this.#savedAtMs = now
    this.#savedPeople = people
    const remembered: RememberedDevice = device.remember(now)
    memory.save(remembered).catch((error: Error) => log(`state not saved: ${error.message}`))
  }
}

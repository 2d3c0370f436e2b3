// Keeps the devices that a source has named, and which of them the server does not have yet.
import { isDeepStrictEqual } from 'node:util'
import { type FoundDevice, maxSourceDevices } from '../../contract/fleet/sources.ts'

export class KnownDevices {
  /** By key. The last message is dropped when the server has it. */
  readonly #devices = new Map<string, FoundDevice>()
  readonly #unsent = new Set<string>()
  /** The keys of the last complete list; undefined until there is one. */
  #listed: ReadonlySet<string> | undefined
  #isListSent = false

  get isListUnsent(): boolean {
    return this.#listed !== undefined && !this.#isListSent
  }

  /** The keys of the last complete list and of later devices, if the server has to compare them with the devices that it knows. */
  get unsentList(): readonly string[] | undefined {
    if (!this.#listed || this.#isListSent) return undefined
    const present = [...this.#devices].flatMap(([key, { isMissing }]) => (isMissing ? [] : [key]))
    return [...new Set([...this.#listed, ...present])].slice(0, 2 * maxSourceDevices)
  }

  get unsentCount(): number {
    return this.#unsent.size
  }

  /** How many of them the server has. */
  get storedCount(): number {
    return this.#devices.size - this.#unsent.size
  }

  /** Returns false if some were left out, because there are too many. */
  merge(found: readonly FoundDevice[]): boolean {
    let isWhole = true
    for (const device of found) {
      const known = this.#devices.get(device.key)
      if (!known && this.#devices.size >= maxSourceDevices) isWhole = false
      else if (!known || device.lastMessage !== undefined || !isDeepStrictEqual(known, device)) {
        this.#devices.set(device.key, device)
        this.#unsent.add(device.key)
      }
    }
    return isWhole
  }

  /** Takes the keys of a complete list: the devices without one of them are missing. */
  list(keys: readonly string[]): void {
    const listed = new Set(keys)
    this.#listed = listed
    for (const [key, { isMissing = false, ...device }] of this.#devices) {
      if (isMissing !== listed.has(key)) continue
      this.#devices.set(key, isMissing ? device : { ...device, isMissing: true })
      this.#unsent.add(key)
    }
  }

  /** The keys that the last list had, and of the adopted devices those that no list has shown to be missing. */
  present(adopted: readonly string[]): readonly string[] {
    return [...new Set([...this.#devices.keys(), ...adopted])].filter((key) => !this.isMissing(key))
  }

  /** Whether the source no longer lists the device. False before there is a list. */
  isMissing(key: string): boolean {
    const known = this.#devices.get(key)
    return known ? (known.isMissing ?? false) : this.#listed?.has(key) === false
  }

  /** The next devices to be sent. */
  unsent(max: number): FoundDevice[] {
    return [...this.#unsent].slice(0, max).flatMap((key) => this.#devices.get(key) ?? [])
  }

  /** The server has these, or never takes them. One that has changed in the meantime is another object, and is sent again. */
  markSent(devices: readonly FoundDevice[]): void {
    for (const device of devices) {
      const { lastMessage, ...rest } = device
      if (this.#devices.get(device.key) !== device) continue
      this.#unsent.delete(device.key)
      if (lastMessage !== undefined) this.#devices.set(device.key, rest)
    }
  }

  markListSent(): void {
    this.#isListSent = true
  }

  markAllUnsent(): void {
    this.#isListSent = false
    for (const key of this.#devices.keys()) this.#unsent.add(key)
  }

  /** The source has another address now, or is read in another way. */
  clear(): void {
    this.#devices.clear()
    this.#unsent.clear()
    this.#listed = undefined
    this.#isListSent = false
  }
}

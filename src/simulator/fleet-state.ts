// The state file of a fleet, kept between runs: its rooms and the identities of its devices, including credentials.
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { AgentSettings, AgentState } from '../device/handlers.ts'
import { replaceFile } from '../device/replace-file.ts'
import { FleetError } from './fleet-error.ts'

export interface DeviceState {
  readonly endpointId: string
  readonly credential: string
  agent?: AgentState
  /** Settings that differ from the defaults. */
  settings?: AgentSettings
  /** When the device ran for the first time, in milliseconds since 1970. Its wear counts from there. */
  firstRunMs?: number
  /** The time span whose samples were sent, in Unix seconds. */
  sampled?: readonly [number, number]
}

interface FleetStateContent {
  readonly fleet: 1
  /** The addresses to connect to, from the latest enrolment. */
  connect: string[]
  /** Ids by their names in the plan. */
  readonly regions: Record<string, number>
  readonly locations: Record<string, number>
  readonly rooms: Record<string, number>
  /** Devices by serial number. */
  readonly devices: Record<string, DeviceState>
}

export class FleetState {
  readonly content: FleetStateContent
  readonly #file: string
  #isDirty = false
  #saving: Promise<void> = Promise.resolve()

  private constructor(file: string, content: FleetStateContent) {
    this.#file = file
    this.content = content
  }

  static open(file: string): FleetState {
    const empty: FleetStateContent = { fleet: 1, connect: [], regions: {}, locations: {}, rooms: {}, devices: {} }
    try {
      mkdirSync(dirname(resolve(file)), { recursive: true, mode: 0o700 })
      const content = JSON.parse(readFileSync(file, 'utf8'))
      if (content?.fleet === 1) return new FleetState(file, content)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return new FleetState(file, empty)
      if (code) throw new FleetError(`Cannot read ${file} (${code}).`)
    }
    throw new FleetError(`${file} is not a state file of the simulator. Move it away, or use another --state.`)
  }

  /** Makes the next `save` write the file. */
  markChanged(): void {
    this.#isDirty = true
  }

  save(): Promise<void> {
    this.#saving = this.#saving.then(async () => {
      if (!this.#isDirty) return
      this.#isDirty = false
      await replaceFile(this.#file, this.content).catch((error: NodeJS.ErrnoException) => {
        this.#isDirty = true
        throw new FleetError(`Cannot write ${this.#file} (${error.code}).`)
      })
    })
    const saved = this.#saving
    this.#saving = saved.catch(() => {})
    return saved
  }
}

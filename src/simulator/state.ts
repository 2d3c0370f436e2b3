// What a fleet remembers between runs: which rooms are its own, and who its devices are. It holds their credentials.
import { mkdirSync, readFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { AgentState, DeviceSettings } from '../device/handlers.ts'
import { FleetError } from './failure.ts'

export interface DeviceState {
  readonly endpointId: string
  readonly credential: string
  kept?: AgentState
  /** Settings that differ from those it came with. */
  settings?: DeviceSettings
  /** From when to when its samples were sent, Unix seconds. */
  sampled?: readonly [number, number]
}

interface Content {
  readonly fleet: 1
  /** Where devices connect, as enrolment said last. */
  connect: string[]
  /** Ids by what the plan calls them. */
  readonly regions: Record<string, number>
  readonly locations: Record<string, number>
  readonly rooms: Record<string, number>
  /** By serial number. */
  readonly devices: Record<string, DeviceState>
}

export class State {
  readonly content: Content
  readonly #file: string
  #isDirty = false
  #saving: Promise<void> = Promise.resolve()

  private constructor(file: string, content: Content) {
    this.#file = file
    this.content = content
  }

  static open(file: string): State {
    const empty: Content = { fleet: 1, connect: [], regions: {}, locations: {}, rooms: {}, devices: {} }
    try {
      mkdirSync(dirname(resolve(file)), { recursive: true, mode: 0o700 })
      const content = JSON.parse(readFileSync(file, 'utf8'))
      if (content?.fleet === 1) return new State(file, content)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return new State(file, empty)
      if (code) throw new FleetError(`Cannot read ${file} (${code}).`)
    }
    throw new FleetError(`${file} is not what a simulator wrote. Move it away, or give another --state.`)
  }

  /** The next save writes it. */
  changed(): void {
    this.#isDirty = true
  }

  /** Whole or not at all, and for nobody else's eyes. */
  save(): Promise<void> {
    this.#saving = this.#saving.then(async () => {
      if (!this.#isDirty) return
      this.#isDirty = false
      const next = `${this.#file}.${process.pid}.tmp`
      try {
        await writeFile(next, JSON.stringify(this.content), { mode: 0o600 })
        await rename(next, this.#file)
      } catch (error) {
        this.#isDirty = true
        await rm(next, { force: true })
        throw new FleetError(`Cannot write ${this.#file} (${(error as NodeJS.ErrnoException).code}).`)
      }
    })
    const saved = this.#saving
    this.#saving = saved.catch(() => {})
    return saved
  }
}

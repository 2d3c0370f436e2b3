// The folder of a gateway: its own identity, and a file for each device and each source with what must survive a crash.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { EnrolAnswer } from '../contract/device/protocol.ts'
import type { AgentState } from '../device/handlers.ts'
import { draftEnding, replaceFile } from '../device/replace-file.ts'

/** A sentence for the person who started the gateway. */
export class FolderError extends Error {}

export interface OwnRecord {
  readonly gateway: 1
  /** Saved before the enrolment, so an enrolment whose answer was lost is repeated as the same device. */
  readonly serial: string
  readonly identity?: EnrolAnswer | undefined
  readonly agent?: AgentState | undefined
}

export interface DeviceRecord {
  readonly identity?: EnrolAnswer | undefined
  /** The serial with which the device was enrolled. */
  readonly serial?: string | undefined
  readonly agent?: AgentState | undefined
  /** The device refused the password of this target revision. */
  readonly refused?: { readonly revision: number; readonly atMs: number; readonly reason: string } | undefined
  /** The endpoint was deleted while the item had this target revision. */
  readonly removedRevision?: number | undefined
  /** State that the session of a source's device has saved for the time after a restart. */
  readonly memory?: unknown
}

export interface SourceRecord {
  /** The source refused the key or the password of this target revision, and is not to be asked again until then. */
  readonly refused?: { readonly revision: number; readonly untilMs: number; readonly reason: string } | undefined
}

const ownFile = 'gateway.json'
const devicesFolder = 'devices'
const sourcesFolder = 'sources'
/** Ids become names of files. */
const isFileName = (id: string) => /^[\w-]{1,64}$/.test(id)

/** A file for each device: a command saves the state of one device, and a gateway can have a thousand. */
export class GatewayFolder {
  readonly #folder: string
  #own: OwnRecord | undefined
  readonly #devices = new Map<string, DeviceRecord>()
  readonly #sources = new Map<string, SourceRecord>()
  /** The last write of each file: writes of one file follow each other. */
  readonly #writes = new Map<string, Promise<void>>()

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Throws a FolderError if the folder cannot be used. */
  static open(folder: string): GatewayFolder {
    const opened = new GatewayFolder(folder)
    try {
      opened.#read()
    } catch (error) {
      if (error instanceof FolderError) throw error
      const { code, message } = error as NodeJS.ErrnoException
      throw new FolderError(`Cannot use the folder ${folder} (${code ?? message}). Choose another --data-dir.`)
    }
    return opened
  }

  get own(): OwnRecord | undefined {
    return this.#own
  }

  get deviceIds(): string[] {
    return [...this.#devices.keys()]
  }

  device(id: string): DeviceRecord {
    return this.#devices.get(id) ?? {}
  }

  /** Resolves when the file is durable. */
  saveOwn(own: OwnRecord): Promise<void> {
    this.#own = own
    return this.#write(ownFile, () => this.#own)
  }

  saveDevice(id: string, changes: DeviceRecord): Promise<void> {
    return this.#save(devicesFolder, this.#devices, id, { ...this.device(id), ...changes })
  }

  deleteDevice(id: string): Promise<void> {
    return this.#delete(devicesFolder, this.#devices, id)
  }

  get sourceIds(): string[] {
    return [...this.#sources.keys()]
  }

  source(id: string): SourceRecord {
    return this.#sources.get(id) ?? {}
  }

  saveSource(id: string, changes: SourceRecord): Promise<void> {
    return this.#save(sourcesFolder, this.#sources, id, { ...this.source(id), ...changes })
  }

  deleteSource(id: string): Promise<void> {
    return this.#delete(sourcesFolder, this.#sources, id)
  }

  /** Deletes every credential, after the gateway itself was deleted in the server. */
  async clear(): Promise<void> {
    await Promise.all([
      ...this.deviceIds.map((id) => this.deleteDevice(id)),
      ...this.sourceIds.map((id) => this.deleteSource(id)),
    ])
    this.#own = undefined
    await this.#write(ownFile, () => undefined)
  }

  #read(): void {
    const [devices, sources] = [devicesFolder, sourcesFolder].map((name) => join(this.#folder, name)) as [
      string,
      string,
    ]
    for (const folder of [devices, sources]) mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const folder of [this.#folder, devices, sources]) {
      chmodSync(folder, 0o700)
      // A process that was killed while it wrote leaves its new file, and the old one is valid.
      for (const name of readdirSync(folder)) if (name.endsWith(draftEnding)) rmSync(join(folder, name))
    }
    this.#own = readJson(join(this.#folder, ownFile)) as OwnRecord | undefined
    if (this.#own && this.#own.gateway !== 1)
      throw new FolderError(`${this.#folder} belongs to a newer version of Roomkeeper. Update this gateway.`)
    readRecords(devices, this.#devices)
    readRecords(sources, this.#sources)
  }

  #save<T extends object>(folder: string, records: Map<string, T>, id: string, record: T): Promise<void> {
    if (!isFileName(id))
      return Promise.reject(
        new FolderError(
          `The id of an item cannot be the name of a file: ${id}. Check --url: the list may not come from Roomkeeper.`,
        ),
      )
    records.set(id, record)
    return this.#write(join(folder, `${id}.json`), () => records.get(id))
  }

  #delete(folder: string, records: Map<string, object>, id: string): Promise<void> {
    records.delete(id)
    return isFileName(id) ? this.#write(join(folder, `${id}.json`), () => undefined) : Promise.resolve()
  }

  /** Replaces the file, which only its owner can read, or deletes it if there is no content. A write that had to wait takes the newest content. */
  #write(name: string, content: () => object | undefined): Promise<void> {
    const written = (this.#writes.get(name) ?? Promise.resolve())
      .catch(() => {})
      .then(() => replaceOrDelete(join(this.#folder, name), content()))
    this.#writes.set(name, written)
    const forget = () => {
      if (this.#writes.get(name) === written) this.#writes.delete(name)
    }
    written.then(forget, forget)
    return written
  }
}

const replaceOrDelete = (file: string, content: object | undefined) =>
  content ? replaceFile(file, content) : rm(file, { force: true })

function readRecords<T extends object>(folder: string, records: Map<string, T>): void {
  for (const name of readdirSync(folder)) {
    const id = name.replace(/\.json$/, '')
    if (id !== name && isFileName(id)) records.set(id, readJson(join(folder, name)) as T)
  }
}

function readJson(file: string): object | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new FolderError(
      `${file} is damaged. Restore it from a backup, or move it away: its device then enrols again.`,
    )
  }
}

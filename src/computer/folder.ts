// The folder of a computer: its identity and the state of its agent, which only its owner can read.
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { EnrolAnswer } from '../contract/device/protocol.ts'
import type { AgentState, AgentStorage } from '../device/handlers.ts'
import { replaceFile } from '../device/replace-file.ts'
import { ComputerError } from './computer-error.ts'

/** After an unenrolment the credential is gone. The file stays, and an old code in the options does not enrol the computer again. */
export type ComputerIdentity = ({ readonly serial: string } & EnrolAnswer) | { readonly unenrolledAt: string }

/** The state of the agent, and the start of the machine in which it was saved. */
interface SavedState {
  readonly bootId: string | undefined
  readonly agent: AgentState
}

const identityFile = 'identity.json'
const stateFile = 'state.json'

export class ComputerFolder implements AgentStorage {
  readonly path: string
  readonly #bootId: string | undefined
  #bootIdBefore: string | undefined

  /** The boot ID is that of the current start of the machine; undefined if the kernel does not tell. */
  constructor(path: string, bootId: string | undefined) {
    this.path = path
    this.#bootId = bootId
  }

  /** Whether the machine has started anew since the loaded state was saved; undefined if that cannot be known. */
  get hasRestarted(): boolean | undefined {
    return this.#bootId && this.#bootIdBefore ? this.#bootId !== this.#bootIdBefore : undefined
  }

  /** Undefined if the computer has never enrolled. */
  async identity(): Promise<ComputerIdentity | undefined> {
    await mkdir(this.path, { recursive: true, mode: 0o700 }).catch(this.#cannot('make'))
    return this.#read(identityFile)
  }

  saveIdentity(identity: ComputerIdentity): Promise<void> {
    return this.#write(identityFile, identity)
  }

  async forget(): Promise<void> {
    await this.#write(identityFile, { unenrolledAt: new Date().toISOString() } satisfies ComputerIdentity)
    await rm(join(this.path, stateFile), { force: true })
  }

  async load(): Promise<AgentState | undefined> {
    const saved = await this.#read<SavedState>(stateFile)
    this.#bootIdBefore = saved?.bootId
    return saved?.agent
  }

  save(agent: AgentState): Promise<void> {
    return this.#write(stateFile, { bootId: this.#bootId, agent } satisfies SavedState)
  }

  async #read<T>(name: string): Promise<T | undefined> {
    const file = join(this.path, name)
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw new ComputerError(`Cannot read ${file} (${error.code}).`)
    })
    if (text === undefined) return undefined
    try {
      return JSON.parse(text)
    } catch {
      throw new ComputerError(
        `${file} is damaged. Delete ${this.path}, unenrol the computer in the console, and enrol it again.`,
      )
    }
  }

  async #write(name: string, content: object): Promise<void> {
    await replaceFile(join(this.path, name), content).catch(this.#cannot('write to'))
  }

  #cannot = (verb: string) => (error: NodeJS.ErrnoException) => {
    throw new ComputerError(`Cannot ${verb} ${this.path} (${error.code}).`)
  }
}

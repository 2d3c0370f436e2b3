// The file of the contexts: the servers that a user talks to, with the key for each.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandError } from '../terminal/command-error.ts'
import { fileProblem } from '../terminal/file-problem.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** A server, with the organisation and the key that a command uses there. */
export interface ServerConnection {
  /** Such as https://rooms.example.org, without a slash at its end. */
  readonly baseUrl: string
  readonly org: string
  readonly key: string
}

export interface Contexts {
  /** The name of the context that commands use. */
  readonly current?: string | undefined
  readonly contexts: Readonly<Record<string, ServerConnection>>
}

export const contextFileOf = ({ configFolder }: Terminal): string => join(configFolder, 'roomkeeper', 'contexts.json')

/** A file that is not there has no contexts. */
export function readContexts(terminal: Terminal): Contexts {
  const file = contextFileOf(terminal)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { contexts: {} }
    throw new CommandError(`Cannot read ${file}: ${fileProblem(error)}`)
  }
  const contexts = contextsIn(text)
  if (contexts) return contexts
  throw new CommandError(`${file} is not a file of contexts. Delete it, and add the contexts again.`)
}

function contextsIn(text: string): Contexts | undefined {
  try {
    const { current, contexts } = JSON.parse(text)
    const isWhole = Object.values(contexts as Record<string, Partial<ServerConnection>>).every((context) =>
      [context.baseUrl, context.org, context.key].every((value) => typeof value === 'string'),
    )
    // Names are the user's: without a prototype, none of them is a property of every object.
    return isWhole ? { current, contexts: Object.assign(Object.create(null), contexts) } : undefined
  } catch {
    return undefined
  }
}

/** The file is replaced as a whole, and only its owner can read it: it has keys. */
export function writeContexts(terminal: Terminal, contexts: Contexts): void {
  const file = contextFileOf(terminal)
  const newFile = `${file}.${process.pid}`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(newFile, `${JSON.stringify(contexts, undefined, 2)}\n`, { mode: 0o600, flush: true })
    // The mode above is for a new file only: a rest of an earlier process may have another one.
    chmodSync(newFile, 0o600)
    renameSync(newFile, file)
  } catch (error) {
    rmSync(newFile, { force: true })
    throw new CommandError(`Cannot write ${file}: ${fileProblem(error)}`)
  }
}

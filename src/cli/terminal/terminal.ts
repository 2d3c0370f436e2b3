// The terminal as commands see it: input, output, variables, signals and exit. `process-terminal.ts` provides the real one.
export interface Terminal {
  /** The version of the program. */
  readonly version: string
  /** The absolute paths of Node and of this program, with which a shell starts it. */
  readonly program: readonly string[]
  /** False if the output goes to a file, a pipe or a journal, where others may read it later. */
  readonly isInteractive: boolean
  /** The columns of the terminal that shows the output; undefined if the output goes elsewhere. */
  readonly columns?: number | undefined
  /** Whether a person can be asked: input and errors belong to a terminal. */
  readonly canAsk: boolean
  write(text: string): void
  /** Writes text or bytes as they are, and resolves when the reader can take more. */
  writeRaw(chunk: string | Uint8Array): Promise<void>
  writeError(text: string): void
  /** Replaces the line of progress, which every other text on standard error clears; does nothing if that is not a terminal. */
  showProgress(line: string): void
  /** Standard input. */
  readInput(): AsyncIterable<Uint8Array>
  /** Asks a question on a terminal. A secret is not shown while it is typed. */
  ask(question: string, kind?: { readonly isSecret: boolean }): Promise<string>
  /** A variable of the environment; undefined if it is not set or empty. */
  variable(name: string): string | undefined
  /** The folder in which programs of this user keep their settings. */
  readonly configFolder: string
  /** Resolves with the name of the signal that asks the process to stop. */
  untilStopped(): Promise<string>
  /** Calls this on every SIGHUP, which ends the process otherwise. */
  onHangup(reload: () => void): void
  /** Calls this with errors that no code has caught, which end the process otherwise. */
  onUncaughtError(report: (error: Error) => void): void
  /** The name of the user who runs the command, for the audit log. */
  user(): string
  /** The secret key, if a variable gives it instead of a file. */
  readonly secretKey?: string | undefined
  /** Shortens the time limits of a server. Only tests set it. */
  readonly timeFactor?: string | undefined
  /** The variables that name certificate authorities: a process that this one starts needs them to trust the same servers. */
  readonly certificateVariables: Readonly<Record<string, string>>
  exitWithFailure(): never
}

/** Names come from files and servers, and a terminal obeys control characters: only line ends are left. */
export const withoutControls = (text: string): string => text.replaceAll(/[^\P{Cc}\n]/gu, '?')

/** Prints one line for each item, or with --json one JSON value. */
export function printResult(
  terminal: Terminal,
  json: boolean | undefined,
  value: unknown,
  lines: readonly string[],
): void {
  if (json) printJson(terminal, JSON.stringify(value))
  else for (const line of lines) terminal.write(withoutControls(line))
}

/** Prints what would be changed, before it is. With --json standard output is for the result, so the plan is on standard error. */
export function showPlan(terminal: Terminal, lines: readonly string[], { json }: { readonly json?: boolean }): void {
  if (!json) printResult(terminal, false, undefined, lines)
  else if (lines.length > 0) terminal.writeError(withoutControls(lines.join('\n')))
}

/** Prints a text that is JSON, with its line ends. */
export const printJson = (terminal: Terminal, text: string): void =>
  terminal.write(text.replaceAll(/[^\P{Cc}\n]/gu, escapedForJson))

/** JSON.stringify leaves the control characters from U+007F on as they are. */
const escapedForJson = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

// What a command may do to the outside: print, wait and give up. `main.ts` gives it the real one.
export interface Terminal {
  /** Of the program. */
  readonly version: string
  say(text: string): void
  complain(text: string): void
  /** Resolves with the name of the signal that asks to stop. */
  untilStopped(): Promise<string>
  /** Who runs the command, for the audit log. */
  user(): string
  fail(): never
}

/** For people a line each, for machines one JSON value. */
export function print(terminal: Terminal, json: boolean | undefined, value: unknown, lines: readonly string[]): void {
  if (json) terminal.say(JSON.stringify(value))
  else for (const line of lines) terminal.say(line)
}

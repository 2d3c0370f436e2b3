// An error that the user of a command can correct. The program prints its message without a stack.

export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

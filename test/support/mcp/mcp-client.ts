// A program that speaks the Model Context Protocol over stdio: started, greeted, called, ended by its own pid.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Harness, TestOrg } from '../harness.ts'

export interface Tool {
  readonly name: string
  readonly inputSchema: {
    readonly properties?: Record<string, { type?: string; enum?: string[] }>
    readonly required?: readonly string[]
  }
}
interface Content {
  readonly content: readonly { type: string; text: string }[]
  readonly isError?: boolean
}
interface Waiting {
  resolve(result: never): void
  reject(error: Error): void
}

const answerTimeoutMs = 20_000

export class McpProgram {
  /** Its log output. */
  stderr = ''
  readonly #child: ChildProcessWithoutNullStreams
  readonly #ended: Promise<void>
  readonly #waiting = new Map<number, Waiting>()
  #count = 0

  private constructor(file: string, env: Record<string, string>) {
    this.#child = spawn(process.execPath, [file], { env })
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.stderr += text
    })
    createInterface(this.#child.stdout).on('line', (line) => this.#receive(line))
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        for (const { reject } of this.#waiting.values()) reject(new Error(`the program ended:\n${this.stderr}`))
        resolve()
      })
    })
  }

  static async start(file: string, env: Record<string, string>): Promise<McpProgram> {
    const program = new McpProgram(file, env)
    const clientInfo = { name: 'roomkeeper-test', version: '1' }
    await program.#request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
    program.#send({ method: 'notifications/initialized' })
    return program
  }

  async tools(): Promise<readonly Tool[]> {
    return (await this.#request<{ tools: Tool[] }>('tools/list', {})).tools
  }

  /** The text that a tool answers, and whether it is an error. */
  async call(name: string, args: object = {}): Promise<{ isError: boolean; text: string }> {
    const { content, isError = false } = await this.#request<Content>('tools/call', { name, arguments: args })
    return { isError, text: content.map(({ text }) => text).join('\n') }
  }

  async close(): Promise<void> {
    this.#child.kill()
    await this.#ended
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  async #request<R>(method: string, params: object): Promise<R> {
    const id = ++this.#count
    const { promise, resolve, reject } = Promise.withResolvers<R>()
    const timer = setTimeout(() => reject(new Error(`no answer to ${method}:\n${this.stderr}`)), answerTimeoutMs)
    this.#waiting.set(id, { resolve, reject })
    this.#send({ id, method, params })
    return promise.finally(() => {
      clearTimeout(timer)
      this.#waiting.delete(id)
    })
  }

  #receive(line: string): void {
    const { id, result, error } = JSON.parse(line)
    const waiting = this.#waiting.get(id)
    if (error) waiting?.reject(new Error(error.message))
    else waiting?.resolve(result as never)
  }
}

const official = fileURLToPath(new URL('../../../node_modules/@neat-no/pulse-mcp/dist/index.js', import.meta.url))

/** The official client of the interface, as its makers published it; nothing but its settings says where we are. */
export async function startOfficialClient(harness: Harness, org: TestOrg): Promise<McpProgram> {
  return McpProgram.start(official, {
    PULSE_API_BASE_URL: `${harness.url}/v1`,
    PULSE_API_TOKEN: await org.newKey({ name: 'MCP' }),
    PULSE_ORG_ID: org.id,
  })
}

/** Its tools, without the one that opens a browser. */
export const toolNames = (tools: readonly Tool[]): string[] =>
  tools
    .map(({ name }) => name)
    .filter((name) => name !== 'open_remote_control')
    .sort()

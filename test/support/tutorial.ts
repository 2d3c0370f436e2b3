// Runs the commands of docs/tutorial.md in one shell, block after block, as a person pastes them into a terminal.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

const root = join(import.meta.dirname, '../..')

interface Block {
  readonly language: string
  readonly text: string
  /** The pictures between this block and the one before. */
  readonly pictures: readonly string[]
}

export interface TutorialServer {
  readonly url: string
  readonly org: string
  readonly key: string
}

const receiverPort = '9090'
const blockTimeoutMs = 120_000

export class Tutorial {
  readonly blocks: readonly Block[]
  readonly #folder = mkdtempSync(join(tmpdir(), 'roomkeeper-tutorial-'))
  readonly #shell: ChildProcess
  readonly #replace: (text: string) => string
  #output = ''
  #count = 0

  private constructor({ url, org, key }: TutorialServer, port: string) {
    const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8')
    let pictures: string[] = []
    const blocks: Block[] = []
    for (const [, picture, language, text] of page.matchAll(
      /^!\[[^\]]*\]\(screenshots\/([\w-]+)\.png\)$|^```(\w+)\n([\s\S]*?)^```$/gm,
    )) {
      if (picture !== undefined) pictures.push(picture)
      else if (!text?.startsWith('npm ci')) {
        blocks.push({ language: language ?? '', text: text ?? '', pictures })
        pictures = []
      }
    }
    this.blocks = blocks
    this.#replace = (text) =>
      text
        .replace(/^export .*$/m, `export ROOMKEEPER=${url} ORG=${org} KEY=${key}`)
        .replaceAll('npm run --silent roomkeeper --', `"${process.execPath}" "${join(root, 'bin/roomkeeper.js')}"`)
        .replaceAll('npx node', `"${process.execPath}"`)
        .replaceAll(receiverPort, port)
    this.#shell = spawn('bash', [], {
      cwd: this.#folder,
      env: { PATH: process.env.PATH },
      stdio: ['pipe', 'pipe', 'inherit'],
      // The shell leads a group, so its end can end the programs that it has started.
      detached: true,
    })
    this.#shell.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      this.#output += piece
    })
  }

  static async start(server: TutorialServer): Promise<Tutorial> {
    return new Tutorial(server, String(await freePort()))
  }

  /** Runs the commands, or writes the file, of a block. Returns what was printed. */
  async run({ language, text }: Block): Promise<string> {
    if (language === 'js') {
      writeFileSync(join(this.#folder, 'receiver.mjs'), this.#replace(text))
      return ''
    }
    const mark = `end-of-block-${this.#count++}`
    this.#output = ''
    this.#shell.stdin?.write(`${this.#replace(text)}\necho ${mark}\n`)
    const deadline = performance.now() + blockTimeoutMs
    while (!this.#output.includes(mark)) {
      if (performance.now() > deadline || this.#shell.exitCode !== null) {
        throw new Error(`This block did not end:\n${text}\nIt printed:\n${this.#output}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return this.#output.replace(`${mark}\n`, '')
  }

  /** Ends the shell and what it has started. */
  async stop(): Promise<void> {
    const { pid, exitCode } = this.#shell
    const ended = new Promise((resolve) => this.#shell.once('exit', resolve))
    if (pid !== undefined && exitCode === null) {
      process.kill(-pid, 'SIGKILL')
      await ended
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

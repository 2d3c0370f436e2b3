// Makes the packages once for a test file, and puts them into empty folders.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isFullForm } from './long-form.ts'
import { testProgramFolder } from './program.ts'

export const runFile = promisify(execFile)
export const root = join(import.meta.dirname, '../..')

/** Packages in a folder that is removed at the end. */
export class PackageShelf {
  readonly folder = mkdtempSync(join(tmpdir(), 'roomkeeper-package-'))
  readonly tarballs = join(this.folder, 'tarballs')

  /**
   * The console is there already: building it once more would take it away from tests that serve it. The short form packs the program
   * that was compiled for all tests.
   */
  async make(): Promise<void> {
    const tool = join(root, 'tools/packages/make-packages.ts')
    const compiled = isFullForm ? [] : ['--program', join(testProgramFolder, 'dist/program')]
    await runFile(process.execPath, [tool, '--no-build', ...compiled, '--output', this.tarballs])
  }

  tarball(name: string): string {
    const file = readdirSync(this.tarballs).find((entry) => new RegExp(`^${name}-\\d.*\\.tgz$`).test(entry))
    if (!file) throw new Error(`No tarball of ${name} in ${this.tarballs}.`)
    return join(this.tarballs, file)
  }

  /** Returns an empty folder. */
  newFolder(name: string): string {
    const folder = join(this.folder, name)
    mkdirSync(folder, { recursive: true })
    return folder
  }

  /**
   * Returns a folder with the package in its node_modules. In the full form npm installs it there as its users would; packages that the
   * checkout has installed are not downloaded again. Otherwise it is unpacked.
   */
  async install(name: string): Promise<string> {
    const folder = this.newFolder(`with-${name}`)
    if (!isFullForm) return this.unpack(name, folder)
    await runFile('npm', ['install', '--omit=dev', '--prefer-offline', this.tarball(name)], { cwd: folder })
    return folder
  }

  /** Unpacks a package into the node_modules of a folder. Node finds the dependencies of the checkout beside that folder. */
  async unpack(name: string, folder: string): Promise<string> {
    const home = join(folder, 'node_modules', name)
    mkdirSync(home, { recursive: true })
    await runFile('tar', ['-xzf', this.tarball(name), '--strip-components=1', '-C', home])
    const dependencies = join(this.folder, 'node_modules')
    if (!existsSync(dependencies)) symlinkSync(join(root, 'node_modules'), dependencies)
    return folder
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const nodesOnPath = (): string[] =>
  (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, 'node'))
    .filter((file) => existsSync(file))

/** The Node of the machine, which may be older than that of the checkout. Without one it is the Node that runs the tests. */
export const machineNode = (): string =>
  nodesOnPath().find((file) => !file.includes('node_modules')) ?? process.execPath

const versionOf = async (file: string) => (await runFile(file, ['--version'])).stdout.trim()

/** Returns the versions of the machine's Node and of all others on the PATH, and prints them. */
export async function nodeVersions(): Promise<{ readonly used: string; readonly others: readonly string[] }> {
  const used = await versionOf(machineNode())
  const onPath = new Set(await Promise.all(nodesOnPath().map(versionOf)))
  process.stdout.write(`the examples of the packages run with Node ${used}, the tests with ${process.version}\n`)
  return { used, others: [...onPath].filter((version) => version !== used) }
}

/** The program in a package's README, and what the README says that it prints. */
export function exampleOf(installedPackage: string): { program: string; printed: string } {
  const text = readFileSync(join(installedPackage, 'README.md'), 'utf8')
  const [, program = '', printed = ''] = /```js\n([\s\S]*?)```\n```text\n([\s\S]*?)```/.exec(text) ?? []
  return { program, printed }
}

// Paths of files outside of the code: package.json, bin/ and dist/console. The code itself is src/ in a checkout, and dist/program/ in an
// installed package, so these paths are not relative to it.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of the checkout or of the installed package. */
const root = nearestPackage(import.meta.dirname)

export const executableFile = join(root, 'bin/roomkeeper.js')
/** The paths of the code: the program's own files, and the folders in which Node looks for its dependencies. */
export function codePaths(): string[] {
  const folders = [root]
  for (let folder = root; dirname(folder) !== folder; folder = dirname(folder)) folders.push(dirname(folder))
  const dependencies = folders.map((folder) => join(folder, 'node_modules')).filter((folder) => existsSync(folder))
  return [
    join(root, 'package.json'),
    ...['bin', 'src', 'dist'].map((name) => join(root, name, '*')),
    ...new Set(dependencies.map((folder) => join(realpathSync(folder), '*'))),
  ]
}

/** The folder that `npm run build` writes to. */
export const builtConsoleFolder = join(root, 'dist/console')

export interface ProgramVersion {
  readonly version: string
  /** The first 12 digits of the commit that the program was made of; absent if that is not known. */
  readonly commit?: string
}

let known: ProgramVersion | undefined

export function programVersion(): ProgramVersion {
  known ??= readProgramVersion()
  return known
}

/** Such as 0.2.0+66e04283a040: SemVer calls the part behind the plus sign build metadata. */
export const versionText = ({ version, commit }: ProgramVersion): string =>
  commit === undefined ? version : `${version}+${commit}`

/** `npm run package` writes the commit into package.json. In a checkout git knows it. */
function readProgramVersion(): ProgramVersion {
  const { version, commit = checkedOutCommit() } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return { version, ...(commit !== undefined && { commit }) }
}

/**
 * Asks git only about this folder: a package may be installed inside of another project's checkout. The gateway beside a server may not start
 * processes, so in a checkout it does not know its commit.
 */
function checkedOutCommit(): string | undefined {
  const mayStartProcesses = process.permission?.has('child') ?? true
  if (!mayStartProcesses || !existsSync(join(root, '.git'))) return undefined
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

function nearestPackage(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  if (dirname(folder) === folder)
    throw new Error('There is no package.json above the code of Roomkeeper. Install it again.')
  return nearestPackage(dirname(folder))
}

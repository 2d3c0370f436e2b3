// Paths of files outside of the code: package.json, bin/ and dist/console. The code itself is src/ in a checkout, and dist/program/ in an
// installed package, so these paths are not relative to it.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of the checkout or of the installed package. */
const root = nearestPackage(import.meta.dirname)

export const executableFile = join(root, 'bin/roomkeeper.js')
/** The folder that `npm run build` writes to. */
export const builtConsoleFolder = join(root, 'dist/console')

export const programVersion = (): string => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version

function nearestPackage(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  if (dirname(folder) === folder)
    throw new Error('There is no package.json above the code of Roomkeeper. Install it again.')
  return nearestPackage(dirname(folder))
}

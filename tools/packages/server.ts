// Prepares the server's package for production: without scripts and development dependencies, and with the versions of its dependencies that were tested.
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { compileProgram } from './compile-program.ts'
import { pack } from './pack.ts'
import { packedCommit } from './packed-commit.ts'
import { pinnedVersions } from './pinned-versions.ts'

const root = join(import.meta.dirname, '../..')

/**
 * Writes the package into a folder, ready for `npm pack`. The list `files` of package.json says what belongs to it. The program is
 * compiled, unless a folder with the compiled program is given.
 */
export async function buildServer(work: string, folder: string, program?: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const [checkout = ''] = await pack([root], work)
  await promisify(execFile)('tar', ['-xzf', checkout, '-C', folder, '--strip-components=1'])
  // Nothing can be built or tested in an installed package, and npm would run `prepare`. A checkout is private, because only this makes a whole package.
  const {
    private: _,
    scripts,
    devDependencies,
    allowScripts,
    overrides,
    ...manifest
  } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const dependencies = await pinnedVersions(Object.keys(manifest.dependencies))
  const production = { ...manifest, commit: await packedCommit(), dependencies }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(production, undefined, 2)}\n`)
  const target = join(folder, 'dist/program')
  if (program) await cp(program, target, { recursive: true })
  else await compileProgram(target)
}

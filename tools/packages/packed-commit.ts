// Finds the commit that a package is made of, for the package.json in it: an installation has no git.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')
const describe = ['describe', '--always', '--exclude=*', '--abbrev=12', '--dirty=-modified']

/** Such as 66e04283a040, or 66e04283a040-modified with changes that are not committed. Undefined without git: a package can be made of an archive. */
export async function packedCommit(): Promise<string | undefined> {
  // Without this, an archive that was unpacked inside of another checkout would get the commit of that one.
  if (!existsSync(join(root, '.git'))) return undefined
  return promisify(execFile)('git', describe, { cwd: root }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  )
}

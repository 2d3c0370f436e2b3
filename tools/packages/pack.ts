// Packs a folder into a tarball with npm.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Returns the path of the tarball. Scripts do not run: they would build the console once more. */
export async function pack(folder: string, destination: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination]
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: 16 * 1024 * 1024 })
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')))
  return join(destination, packed.filename)
}

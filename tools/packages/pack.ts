// Packs folders into tarballs with npm.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Returns the paths of the tarballs. Scripts do not run: they would build the console once more. */
export async function pack(folders: readonly string[], destination: string): Promise<string[]> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination, ...folders]
  const { stdout } = await promisify(execFile)('npm', args, { maxBuffer: 16 * 1024 * 1024 })
  const packed: { readonly filename: string }[] = JSON.parse(stdout.slice(stdout.indexOf('[')))
  return packed.map(({ filename }) => join(destination, filename))
}

// The versions of dependencies that the tests ran with: an installation of a package gets exactly these.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export async function pinnedVersions(names: readonly string[]): Promise<Record<string, string>> {
  const { packages } = JSON.parse(await readFile(join(import.meta.dirname, '../../package-lock.json'), 'utf8'))
  return Object.fromEntries(names.map((name) => [name, packages[`node_modules/${name}`].version]))
}

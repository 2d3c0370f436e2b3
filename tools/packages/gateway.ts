// Builds the package for the site of the rooms: the commands `gateway` and `computer`, without a server and its database.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compileProgram } from './compile-program.ts'
import { packedCommit } from './packed-commit.ts'
import { pinnedVersions } from './pinned-versions.ts'

const root = join(import.meta.dirname, '../..')
export const gatewayPackage = 'roomkeeper-gateway'
/** Its code is in ours. It stays a dependency, so that `npm audit` and `npm sbom` know it. */
const compiledIn = 'typebox'
const unitFiles = /^roomkeeper-(?:gateway|computer)\.service$/
const documents = /^(?:gateway|computer|roomos|pjlink|snmp-and-reach)\.md$/

/** Writes the package into a folder, ready for `npm pack`. */
export async function buildGatewayPackage(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await compileProgram(join(folder, 'dist/program'), 'site')
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  await cp(join(import.meta.dirname, `${gatewayPackage}.md`), join(folder, 'README.md'))
  await copyMatching('deploy', unitFiles, folder)
  await copyMatching('docs', documents, folder)
  const checkout = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const { version, license, engines, bin, type, dependencies } = checkout
  const imported = await importedPackages(join(folder, 'dist/program'))
  const needed = Object.keys(dependencies).filter((name) => name === compiledIn || imported.has(name))
  const manifest = {
    name: gatewayPackage,
    version,
    description:
      'Roomkeeper for the site of the rooms: a gateway to codecs, projectors and switches, and room PCs as devices.',
    license,
    type,
    engines,
    bin,
    files: ['bin', 'deploy', 'dist/program', 'docs'],
    commit: await packedCommit(),
    dependencies: await pinnedVersions(needed),
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

async function copyMatching(from: string, names: RegExp, folder: string): Promise<void> {
  const found = (await readdir(join(root, from))).filter((name) => names.test(name))
  for (const name of found) await cp(join(root, from, name), join(folder, from, name))
}

/** The names of the packages that the compiled files import. */
async function importedPackages(folder: string): Promise<Set<string>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  const imports = /(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*["']((?:@[\w.-]+\/)?[\w][\w.-]*)/g
  return new Set(texts.flatMap((text) => [...text.matchAll(imports)].map(([, name = '']) => name)))
}

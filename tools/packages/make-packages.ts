// `npm run package`: makes the tarballs of the server, the gateway, the command line, the client and the device agent in dist/packages,
// with their bills of materials, the notes of the release and the checksums of all files.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { billOfMaterials } from './bill-of-materials.ts'
import { buildCliPackage, cliPackage } from './cli.ts'
import { buildGatewayPackage, gatewayPackage } from './gateway.ts'
import { buildLibrary, libraries } from './library.ts'
import { pack } from './pack.ts'
import { packedCommit } from './packed-commit.ts'
import { releaseNotes, writeChecksums } from './release-notes.ts'
import { buildServer } from './server.ts'

const root = join(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    output: { type: 'string', default: join(root, 'dist/packages') },
    /** Packs the console that was built before. */
    'no-build': { type: 'boolean', default: false },
    /** Packs the program that was compiled into this folder before. */
    program: { type: 'string' },
  },
})
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const output = resolve(values.output)

if (!values['no-build']) {
  execFileSync(process.execPath, [join(root, 'tools/build-console.js'), '--quiet'], { stdio: 'inherit' })
}
const work = await mkdtemp(join(tmpdir(), 'roomkeeper-packages-'))
try {
  await rm(output, { recursive: true, force: true })
  await mkdir(output, { recursive: true })
  await buildServer(work, join(work, 'roomkeeper'), values.program)
  await buildGatewayPackage(join(work, gatewayPackage))
  await buildCliPackage(join(work, cliPackage))
  for (const library of libraries) await buildLibrary(library, join(work, library.name))
  const folders = ['roomkeeper', gatewayPackage, cliPackage, ...libraries.map((library) => library.name)].map((name) =>
    join(work, name),
  )
  const files = [
    ...(await pack(folders, output)),
    ...(await Promise.all(folders.map(writeBill))).filter((file) => file !== undefined),
    await writeNotes(),
  ]
  for (const file of [...files, await writeChecksums(output)]) {
    process.stdout.write(`${relative(process.cwd(), file)}  ${Math.ceil((await stat(file)).size / 1024)} KiB\n`)
  }
} finally {
  await rm(work, { recursive: true, force: true })
}

async function writeBill(folder: string): Promise<string | undefined> {
  const bill = await billOfMaterials(folder, work)
  if (bill === undefined) return undefined
  const file = join(output, `${basename(folder)}-${version}.cdx.json`)
  await writeFile(file, bill)
  return file
}

async function writeNotes(): Promise<string> {
  const file = join(output, `release-notes-${version}.md`)
  await writeFile(file, await releaseNotes(version, await packedCommit()))
  return file
}

// `npm run package`: makes the tarballs of the server, the gateway, the command line, the client and the device agent in dist/packages.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildCliPackage, cliPackage } from './cli.ts'
import { buildGatewayPackage, gatewayPackage } from './gateway.ts'
import { buildLibrary, libraries } from './library.ts'
import { pack } from './pack.ts'
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
  for (const file of await pack(folders, output)) {
    process.stdout.write(`${relative(process.cwd(), file)}  ${Math.ceil((await stat(file)).size / 1024)} KiB\n`)
  }
} finally {
  await rm(work, { recursive: true, force: true })
}

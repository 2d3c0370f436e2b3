// Builds a package of JavaScript and types out of a part of src: one bundled file, the declarations of tsc, no TypeScript to run.
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as vite from 'vite'
import * as protocol from '../../src/contract/device/protocol.ts'
import { bareOperations, pureShapes } from '../bare-operations.ts'
import { strictBuild } from '../strict-build.js'
import { clientContractTypes, type DeclarationFiles, deviceContractTypes } from './contract-types.ts'

const root = join(import.meta.dirname, '../..')

export interface Library {
  readonly name: string
  readonly description: string
  /** Packages that stay imports; the manifest takes their version from that of the project. */
  readonly dependencies: readonly string[]
  /** The exported names of each file below src. */
  readonly exports: Readonly<Record<string, { readonly values: readonly string[]; readonly types: readonly string[] }>>
  /** The declarations of the contract, which replace those of src/contract. */
  readonly contractTypes: () => DeclarationFiles
  /** A declaration file of the contract that is exported as a whole. */
  readonly shapes: string
}

export const libraries: readonly Library[] = [
  {
    name: 'roomkeeper-client',
    description: 'Typed client of the Roomkeeper API, for Node and browsers.',
    dependencies: [],
    exports: {
      'client/client': {
        values: ['makeClient', 'ApiError'],
        types: ['ApiResponse', 'CallInput', 'CallOptions', 'Client', 'ClientOptions', 'CsvOptions'],
      },
      'client/event-stream': { values: [], types: ['EventStream', 'ReceivedEvent', 'StreamOptions'] },
    },
    contractTypes: clientContractTypes,
    shapes: 'contract/operations',
  },
  {
    name: 'roomkeeper-device',
    description: 'Device agent for Roomkeeper: enrolment, MQTT connection, configs and commands.',
    dependencies: ['mqtt'],
    exports: {
      'device/agent': { values: ['Agent'], types: ['AgentOptions'] },
      'device/reconnect': { values: ['deviceBackOff'], types: [] },
      'device/enrol': { values: ['requestEnrolment', 'EnrolmentRefusedError'], types: [] },
      'device/handlers': {
        values: [],
        types: ['AgentHandlers', 'AgentSettings', 'AgentState', 'AgentStorage', 'CommandOutcome', 'StartedCommand'],
      },
      'client/back-off': { values: ['backOffMs'], types: ['BackOff'] },
    },
    contractTypes: deviceContractTypes,
    shapes: 'contract/device/protocol',
  },
]

const hasShape = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('~kind' in value || Object.values(value).some(hasShape))
const sourceOf = (value: unknown): string => (typeof value === 'function' ? String(value) : JSON.stringify(value))

/** The agent needs topics, paths, words and times of the protocol. Its shapes would bring a schema library of 200 KB along. */
const bareProtocol: vite.Plugin = {
  name: 'bare-protocol',
  load(file) {
    if (!file.endsWith('/src/contract/device/protocol.ts')) return undefined
    return Object.entries(protocol)
      .filter(([, value]) => !hasShape(value))
      .map(([name, value]) => `export const ${name} = ${sourceOf(value)}`)
      .join('\n')
  },
}

/** Writes the package into a folder, ready for `npm pack`. */
export async function buildLibrary(library: Library, folder: string): Promise<void> {
  const work = await mkdtemp(join(dirname(folder), `${library.name}-work-`))
  try {
    const { version, license, dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    await bundle(library, work, folder)
    await declareTypes(library, work, folder)
    const manifest = {
      name: library.name,
      version,
      description: library.description,
      license,
      type: 'module',
      engines: { node: '>=20' },
      sideEffects: false,
      exports: { '.': { types: './types/index.d.ts', default: './index.js' } },
      files: ['index.js', 'types'],
      dependencies: Object.fromEntries(library.dependencies.map((name) => [name, dependencies[name]])),
    }
    await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
    await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'))
    await cp(join(import.meta.dirname, `${library.name}.md`), join(folder, 'README.md'))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function bundle({ exports, dependencies }: Library, work: string, folder: string): Promise<void> {
  const entry = join(work, 'index.ts')
  const lines = Object.entries(exports)
    .filter(([, { values }]) => values.length > 0)
    .map(([path, { values }]) => `export { ${values.join(', ')} } from '${join(root, 'src', path)}.ts'\n`)
  await writeFile(entry, lines.join(''))
  await strictBuild(vite, {
    configFile: false,
    root: work,
    logLevel: 'warn',
    plugins: [bareOperations, bareProtocol],
    build: {
      outDir: folder,
      emptyOutDir: true,
      lib: { entry, formats: ['es'], fileName: () => 'index.js' },
      // Readable code: a developer who debugs into the package sees names and comments.
      minify: false,
      target: 'es2022',
      rolldownOptions: { external: [/^node:/, ...dependencies], treeshake: pureShapes },
    },
  })
}

async function declareTypes(library: Library, work: string, folder: string): Promise<void> {
  const emitted = join(work, 'emitted')
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      outDir: emitted,
      rootDir: join(root, 'src'),
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [],
    exclude: [],
    files: Object.keys(library.exports).map((path) => join(root, 'src', `${path}.ts`)),
  }
  await writeFile(join(work, 'tsconfig.json'), JSON.stringify(config))
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', join(work, 'tsconfig.json')])
  const own = (await readdir(emitted, { recursive: true })).filter((path) => /^(client|device)\/.*\.d\.ts$/.test(path))
  const sources = own.map(async (path) => [path, await readFile(join(emitted, path), 'utf8')] as const)
  const files = {
    ...Object.fromEntries(await Promise.all(sources)),
    ...library.contractTypes(),
    ...indexTypes(library),
  }
  for (const [path, text] of Object.entries(files)) {
    const target = join(folder, 'types', path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, text.replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'"))
  }
}

function indexTypes({ exports, shapes }: Library): DeclarationFiles {
  const lines = Object.entries(exports).map(([path, { values, types }]) => {
    const names = [...values, ...types.map((name) => `type ${name}`)]
    return `export { ${names.join(', ')} } from './${path}.js'\n`
  })
  return { 'index.d.ts': `${lines.join('')}export type * from './${shapes}.js'\n` }
}

// Makes the bill of materials of a package with `npm sbom`, from the lock file alone: no network, and no address of a registry in it.
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')
const maxBillBytes = 64 * 1024 * 1024

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/**
 * Returns CycloneDX as JSON: the packages that npm installs with the package in this folder, and the packages whose code is bundled into
 * it. Undefined if there are none. npm needs a folder with a lock file, which is made in `work`.
 */
export async function billOfMaterials(folder: string, work: string): Promise<string | undefined> {
  const manifest: Manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const { name, version, license, dependencies = {} } = manifest
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const included = new Set([...Object.keys(dependencies), ...(await bundledPackages(folder))])
  if (included.size === 0) return undefined
  const pinned = [...included].map((one) => [one, lock.packages[`node_modules/${one}`].version])
  const described = { name, version, license, dependencies: Object.fromEntries(pinned) }
  // The lock file marks what only development needs. Here everything that is reached is needed.
  const packages = Object.entries<Record<string, unknown>>(lock.packages).map(
    ([path, { dev: _dev, devOptional: _devOptional, ...entry }]) => [path, entry] as const,
  )
  // npm names the product after the folder.
  const place = join(work, 'bills', name)
  await mkdir(place, { recursive: true })
  await writeFile(join(place, 'package.json'), JSON.stringify(described))
  const wholeLock = { ...lock, name, version, packages: { ...Object.fromEntries(packages), '': described } }
  await writeFile(join(place, 'package-lock.json'), JSON.stringify(wholeLock))
  const options = ['--package-lock-only', '--offline', '--sbom-format=cyclonedx', '--sbom-type=application']
  const { stdout } = await promisify(execFile)('npm', ['sbom', ...options], { cwd: place, maxBuffer: maxBillBytes })
  return stdout
}

/** The names of the packages whose code is part of the files of this package. */
async function bundledPackages(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true })
  const lists = files.filter((file) => file.endsWith('licenses.md')).map((file) => readFile(join(folder, file), 'utf8'))
  const listed = (await Promise.all(lists)).flatMap((text) => [...text.matchAll(/^## (\S+) - \d/gm)])
  const names = listed.map(([, name = '']) => name)
  return files.includes(join('dist', 'console', 'index.html')) ? [...names, ...(await consolePackages())] : names
}

/** The packages that the pages of the console import. */
async function consolePackages(): Promise<string[]> {
  const folder = join(root, 'src/console')
  const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const files = (await readdir(folder, { recursive: true })).filter((file) => /(?<!\.d|\.test)\.tsx?$/.test(file))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  const imported = texts.flatMap((text) => [...text.matchAll(/\b(?:from|import) '((?:@[\w.-]+\/)?[\w-][\w.-]*)/g)])
  const names = new Set(imported.map(([, name = '']) => name))
  return Object.keys(devDependencies).filter((name) => names.has(name) && !name.startsWith('@types/'))
}

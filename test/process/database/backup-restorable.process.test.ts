// Every backup that is made can be restored, whatever the key file and the folder of log bundles look like.
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { makeBackup } from '../../../src/server/maintenance/backup/make-backup.ts'
import { restoreBackup } from '../../../src/server/maintenance/backup/restore-backup.ts'
import { need } from '../../support/debian.ts'
import { engine, type Harness, newPlace, startHarness } from '../../support/harness.ts'
import { emptySiteForTest, expectDone, expectRefusal } from '../../support/program.ts'

let harness: Harness
let folder: string
let bundles: string

beforeAll(async () => {
  need('strace')
  harness = await startHarness()
  await harness.newOrg()
  bundles = join(harness.place.dataDir, 'bundles')
})
beforeEach(() => {
  // On the same file system as the data, bundles are linked into the backup and not copied.
  folder = mkdtempSync(join(dirname(harness.place.dataDir), 'roomkeeper-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  rmSync(bundles, { recursive: true, force: true })
})
afterAll(() => harness.close())

function putBundle(name: string, content: string | Buffer = name): string {
  const file = join(bundles, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

/** Restores the backup, and returns the files in the data folder. */
async function restored(file: string): Promise<string[]> {
  const { place, remove } = await newPlace()
  onTestFinished(remove)
  await restoreBackup(file, place)
  const entries = readdirSync(place.dataDir, { recursive: true, withFileTypes: true })
  return entries.filter((e) => e.isFile()).map((e) => join(e.parentPath, e.name).slice(place.dataDir.length + 1))
}

const bundlesIn = (files: readonly string[]) => files.filter((name) => name.startsWith('bundles/')).sort()

test('a secret key file that is a symbolic link is backed up as a file', async () => {
  const key = join(harness.place.dataDir, 'secret.key')
  const elsewhere = join(harness.place.dataDir, 'mounted.key')
  renameSync(key, elsewhere)
  symlinkSync('mounted.key', key)
  onTestFinished(() => renameSync(elsewhere, key))
  const file = join(folder, 'backup.tar')
  await makeBackup({ place: harness.place, file, withSecret: true, withBundles: false })
  expect(await restored(file)).toContain('secret.key')
})

test('a stray file below the folder of bundles is left out', async () => {
  putBundle('1/abc/bundle.zip')
  for (const name of ['.DS_Store', '1/.nfs0001', '1/abc/not ours.zip']) putBundle(name)
  const file = join(folder, 'backup.tar')
  const { bundles: count } = await makeBackup({ place: harness.place, file, withSecret: true, withBundles: true })
  expect(count).toBe(1)
  expect(bundlesIn(await restored(file))).toEqual(['bundles/1/abc/bundle.zip'])
})

test('a bundle that expires while the backup is made does not make it fail', async () => {
  const files = ['1/abc/first.zip', '1/abc/second.zip'].map((name) => putBundle(name, Buffer.alloc(1_000_000, name)))
  const file = join(folder, 'backup.tar')
  // The draft appears after the bundles were listed and before they are packed.
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (name?.endsWith('backup.tar')) for (const one of files) rmSync(one, { force: true })
  })
  onTestFinished(() => watcher.close())
  await makeBackup({ place: harness.place, file, withSecret: true, withBundles: true })
  expect(readdirSync(join(bundles, '1/abc')), 'the bundles were deleted in time').toEqual([])
  expect(bundlesIn(await restored(file))).toEqual(['bundles/1/abc/first.zip', 'bundles/1/abc/second.zip'])
})

test('a backup that restore would refuse is reported, and no file is left', async () => {
  const bundle = putBundle('1/abc/changing.zip', Buffer.alloc(1_000_000))
  // The content changes between its checksum and its packing, as it may on a failing disk.
  const opened = openSync(bundle, 'r+')
  let count = 0
  let writing = setImmediate(function change() {
    writeSync(opened, String(++count), 0)
    writing = setImmediate(change)
  })
  onTestFinished(() => closeSync(opened))
  onTestFinished(() => clearImmediate(writing))
  const file = join(folder, 'backup.tar')
  await expect(makeBackup({ place: harness.place, file, withSecret: true, withBundles: true })).rejects.toThrow(
    /^The backup was damaged while it was written, so none was made\./,
  )
  expect(readdirSync(folder)).toEqual([])
})

test('a restored database, key and bundle are synced to the disk before the command says so', async () => {
  putBundle('1/abc/bundle.zip')
  const file = join(folder, 'backup.tar')
  await makeBackup({ place: harness.place, file, withSecret: true, withBundles: true })
  const site = await emptySiteForTest()
  const trace = join(folder, 'trace')
  const starter = ['strace', '-f', '-y', '-s', '200', '-e', 'trace=fsync,write', '-o', trace]
  expectDone(await site.launch(['restore', file, ...site.flags], { starter }).exit())
  const [before = ''] = readFileSync(trace, 'utf8').split('Restored the state')
  const synced = [...before.matchAll(/fsync\(\d+<(.*?)>/g)].map(([, path]) => path?.replace(/^.*\/restore-\w+\//, ''))
  const own = ['bundles/1/abc/bundle.zip', 'bundles/1/abc', 'bundles', join(site.dataDir, 'secret.key'), site.dataDir]
  expect(synced).toEqual(expect.arrayContaining(engine === 'sqlite' ? ['roomkeeper.db', ...own] : own))
})

if (engine === 'postgres') {
  test('a failed pg_restore leaves nothing, and the restore can be tried again', async () => {
    putBundle('1/abc/bundle.zip')
    const file = join(folder, 'backup.tar')
    await makeBackup({ place: harness.place, file, withSecret: true, withBundles: true })
    const site = await emptySiteForTest()
    const failed = site.launch(['restore', file, ...site.flags], { env: { PATH: '/nonexistent' } })
    expectRefusal(await failed.exit(), /^pg_restore was not found\./)
    expect(readdirSync(site.dataDir)).toEqual([])
    expectDone(await site.run('restore', file))
    expect(readdirSync(site.dataDir).sort()).toEqual(['bundles', 'secret.key'])
  })
}

// Stores log bundles on disk: each completely or not at all, under a name that the service chooses.
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { maxBundleBytes } from '../../../contract/device/protocol.ts'
import { Failure } from '../../core/failure.ts'
import { gzipCheck } from './gzip.ts'
import { isSupportId } from './support-id.ts'

const folderOf = (root: string, org: number, report: string): string => join(root, String(org), report)
const partialSuffix = '.part'

/** Where a bundle is stored, under `root`. */
export interface BundleFile {
  readonly root: string
  readonly org: number
  readonly report: string
  readonly name: string
}

/** Stores a bundle and returns its size in bytes. If it is refused or incomplete, or the disk is full, no file remains. */
export async function storeBundle({ root, org, report, name }: BundleFile, stream: Readable): Promise<number> {
  const folder = folderOf(root, org, report)
  const part = join(folder, randomUUID() + partialSuffix)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const size = await writePartialFile(part, stream)
    await rename(part, join(folder, name))
    // The new name survives a power cut only after every folder above it is synced.
    for (const path of [folder, dirname(folder), root]) await syncFolder(path)
    return size
  } catch (error) {
    await rm(part, { force: true })
    throw diskFullCodes.has((error as NodeJS.ErrnoException).code ?? '') ? diskFull() : error
  }
}

async function writePartialFile(part: string, stream: Readable): Promise<number> {
  const file = await open(part, 'wx', 0o600)
  const check = gzipCheck()
  let size = 0
  try {
    // Leaving the loop must not destroy the stream, because the refusal is sent over the same connection.
    for await (const bytes of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += bytes.length
      if (size > maxBundleBytes) throw bundleTooLarge()
      await Promise.all([file.appendFile(bytes), check.write(bytes)])
    }
    await check.end()
    await file.sync()
    return size
  } finally {
    check.close()
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Opens a bundle, which stays readable even if it is deleted concurrently. The result is undefined if there is no file. */
export async function openBundle({ root, org, report, name }: BundleFile) {
  try {
    const file = await open(join(folderOf(root, org, report), name), 'r')
    const { size } = await file.stat()
    return { content: file.createReadStream(), size }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export const removeBundle = ({ root, org, report, name }: BundleFile) =>
  rm(join(folderOf(root, org, report), name), { force: true })

/** Lists the reports that have a folder, by organisation. Files and folders with other names are ignored. */
export async function listStoredReports(root: string): Promise<{ org: number; reports: string[] }[]> {
  const orgs = (await namesIn(root)).filter((name) => /^[1-9]\d{0,8}$/.test(name))
  return Promise.all(
    orgs.map(async (org) => ({ org: Number(org), reports: (await namesIn(join(root, org))).filter(isSupportId) })),
  )
}

export const removeReport = (root: string, org: number, report: string) =>
  rm(folderOf(root, org, report), { recursive: true, force: true })

/** Removes partial files that a crash left behind: those last written before the given time. */
export async function removePartialFiles(root: string, org: number, report: string, beforeMs: number): Promise<void> {
  const folder = folderOf(root, org, report)
  for (const name of await namesIn(folder)) {
    if (!name.endsWith(partialSuffix)) continue
    const path = join(folder, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (mtimeMs < beforeMs) await rm(path, { force: true })
  }
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })

export const bundleTooLarge = () =>
  new Failure('PAYLOAD_TOO_LARGE', 'The bundle is larger than 64 MiB. Leave out the oldest logs.')

const diskFullCodes = new Set(['ENOSPC', 'EDQUOT'])
const diskFull = () =>
  new Failure('UNAVAILABLE', 'The disk for bundles is full, and nothing was stored. Send it again later.', {
    headers: { 'Retry-After': '300' },
  })

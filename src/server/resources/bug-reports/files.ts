// Bundles on disk: each arrives whole or not at all, under a name of our own.
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { maxBundleBytes } from '../../../contract/device.ts'
import { Failure } from '../../core/failure.ts'
import { gzipCheck } from './gzip.ts'
import { isSupportId } from './support-id.ts'

const folderOf = (root: string, org: number, report: string): string => join(root, String(org), report)
const unfinished = '.part'

/** Where a bundle is stored, under `root`. */
export interface BundleFile {
  readonly root: string
  readonly org: number
  readonly report: string
  readonly name: string
}

/** Stores what the stream brings; nothing is left of it if it is refused, breaks off or does not fit. */
export async function storeBundle({ root, org, report, name }: BundleFile, stream: Readable): Promise<number> {
  const folder = folderOf(root, org, report)
  const part = join(folder, randomUUID() + unfinished)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const size = await write(part, stream)
    await rename(part, join(folder, name))
    // A name is durable when its folder is, and that when its own is.
    for (const each of [folder, dirname(folder), root]) await syncFolder(each)
    return size
  } catch (error) {
    await rm(part, { force: true })
    throw full.has((error as NodeJS.ErrnoException).code ?? '') ? noSpace() : error
  }
}

async function write(part: string, stream: Readable): Promise<number> {
  const file = await open(part, 'wx', 0o600)
  const check = gzipCheck()
  let size = 0
  try {
    // A refusal must be able to reach the sender: leaving the loop does not cut the connection.
    for await (const bytes of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += bytes.length
      if (size > maxBundleBytes) throw bundleTooLarge()
      await Promise.all([file.appendFile(bytes), check.take(bytes)])
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

/** Opened before it is promised: what is deleted meanwhile is still read to its end. Undefined if it is gone. */
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

/** The reports that have a folder, organisation by organisation. What is not ours is not touched. */
export async function listStored(root: string): Promise<{ org: number; reports: string[] }[]> {
  const orgs = (await namesIn(root)).filter((name) => /^[1-9]\d{0,8}$/.test(name))
  return Promise.all(
    orgs.map(async (org) => ({ org: Number(org), reports: (await namesIn(join(root, org))).filter(isSupportId) })),
  )
}

export const removeReport = (root: string, org: number, report: string) =>
  rm(folderOf(root, org, report), { recursive: true, force: true })

/** What a crash left of uploads. */
export async function removeUnfinished(root: string, org: number, report: string, before: number): Promise<void> {
  const folder = folderOf(root, org, report)
  for (const name of await namesIn(folder)) {
    if (!name.endsWith(unfinished)) continue
    const path = join(folder, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (mtimeMs < before) await rm(path, { force: true })
  }
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })

export const bundleTooLarge = () =>
  new Failure('PAYLOAD_TOO_LARGE', 'The bundle is larger than 64 MiB. Leave out the oldest logs.')

const full = new Set(['ENOSPC', 'EDQUOT'])
const noSpace = () =>
  new Failure('UNAVAILABLE', 'The disk for bundles is full, and nothing was stored. Send it again later.', {
    headers: { 'Retry-After': '300' },
  })

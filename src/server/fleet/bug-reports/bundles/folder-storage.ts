// Stores log bundles in a folder: each completely or not at all, under the id of its upload.
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Failure } from '../../../core/failure.ts'
import type { Database } from '../../../db/db.ts'
import { isSupportId } from '../support-id.ts'
import type { BundleStorage, BundleUpload, OpenedBundle, StoredBundle } from './storage.ts'
import { deleteUpload } from './store.ts'

const partialSuffix = '.part'
const suffix = '.log.gz'

export class FolderStorage implements BundleStorage {
  readonly #db: Database
  readonly #root: string

  constructor(db: Database, root: string) {
    this.#db = db
    this.#root = root
  }

  async write({ org, report, id }: BundleUpload, pieces: AsyncIterable<Buffer>): Promise<void> {
    const folder = folderOf(this.#root, org, report)
    const partial = join(folder, id + partialSuffix)
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(partial, pieces)
      await rename(partial, join(folder, id + suffix))
      // The new name survives a power cut only after every folder above it is synced.
      for (const path of [folder, dirname(folder), this.#root]) await syncFolder(path)
    } catch (error) {
      throw diskFullCodes.has((error as NodeJS.ErrnoException).code ?? '') ? diskFull() : error
    }
  }

  /** An opened bundle stays readable even if it is deleted concurrently. */
  async open({ org, report, uploadId, file: name }: StoredBundle): Promise<OpenedBundle | undefined> {
    try {
      const path = join(folderOf(this.#root, org, report), uploadId === null ? name : uploadId + suffix)
      const file = await open(path, 'r')
      const { size } = await file.stat()
      return { content: file.createReadStream(), size }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /** The files go first: a row without its files is found again, but not the other way round. */
  async remove({ org, report, id }: BundleUpload, db = this.#db): Promise<void> {
    const folder = folderOf(this.#root, org, report)
    for (const ending of [partialSuffix, suffix]) await rm(join(folder, id + ending), { force: true })
    await db.forOrg(org).bulkTransaction((tx) => deleteUpload(tx, { id }))
  }

  /** Deletes a file of version 0.1, whose content is stored elsewhere now. */
  async removeOld({ org, report, file }: StoredBundle): Promise<void> {
    await rm(join(folderOf(this.#root, org, report), file), { force: true })
  }

  /** Lists the reports that have a folder, by organisation. Files and folders with other names are ignored. */
  async listReports(): Promise<{ org: number; reports: string[] }[]> {
    const orgs = (await namesIn(this.#root)).filter((name) => /^[1-9]\d{0,8}$/.test(name))
    return Promise.all(
      orgs.map(async (org) => ({
        org: Number(org),
        reports: (await namesIn(join(this.#root, org))).filter(isSupportId),
      })),
    )
  }

  removeReport(org: number, report: string): Promise<void> {
    return rm(folderOf(this.#root, org, report), { recursive: true, force: true })
  }

  /** Removes partial files that a crash left behind: those last written before the given time. */
  async removePartialFiles(org: number, report: string, beforeMs: number): Promise<void> {
    const folder = folderOf(this.#root, org, report)
    for (const name of await namesIn(folder)) {
      if (!name.endsWith(partialSuffix)) continue
      const path = join(folder, name)
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
      if (mtimeMs < beforeMs) await rm(path, { force: true })
    }
  }
}

const folderOf = (root: string, org: number, report: string): string => join(root, String(org), report)

/** Replaces a file that an attempt before left. */
async function writeFile(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    for await (const bytes of pieces) await file.appendFile(bytes)
    await file.sync()
  } finally {
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

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })

const diskFullCodes = new Set(['ENOSPC', 'EDQUOT'])
const diskFull = () =>
  new Failure('UNAVAILABLE', 'The disk for bundles is full, and nothing was stored. Send it again later.', {
    retryAfterSeconds: 300,
  })

// Uploads of log bundles: signed upload addresses, and the receipt of one bundle per command. [contract 6.bugReports]

import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { Readable } from 'node:stream'
import { type DeviceCommandMessage, devicePaths, maxBundleBytes } from '../../../contract/device/protocol.ts'
import { daySeconds } from '../../../contract/durations.ts'
import { openCommandStates } from '../../../contract/fleet/commands.ts'
import type { Org } from '../../auth/token-holder.ts'
import type { Services } from '../../context/services.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { Device } from '../../devices/mqtt/handlers.ts'
import { findCommand, finishCommand } from '../commands/store.ts'
import { commandEventDraft, commandMessage, commandView } from '../commands/view.ts'
import { queueFinishedCommands } from '../endpoints/endpoint-messages.ts'
import { bundleTooLarge, CheckedPieces } from './bundles/pieces.ts'
import type { BundleStorage, BundleUpload } from './bundles/storage.ts'
import { insertUpload, sumBundleBytes, updateUploadSize } from './bundles/store.ts'
import { findUploadTarget, type UploadTargetRow, updateUploaded } from './store.ts'

const addressValiditySeconds = daySeconds
const expiryBytes = 6

/** Makes a new address that the logs of a command can be uploaded to. Every address works for a day. */
export function uploadUrl(services: Services, org: Org, commandId: string): string {
  const expiry = Buffer.alloc(expiryBytes)
  expiry.writeUIntBE(Math.floor(services.clock.now() / 1000) + addressValiditySeconds, 0, expiryBytes)
  const token = Buffer.concat([expiry, macOf(services, org, commandId, expiry)])
  return `${services.publicUrl()}${devicePaths.logs}/${commandId}/${token.toString('base64url')}`
}

const macOf = ({ secrets }: Services, org: Org, commandId: string, expiry: Buffer) =>
  secrets.mac('log upload', `${org.id}/${commandId}/`, expiry)

function isTokenValid(services: Services, org: Org, commandId: string, token: string): boolean {
  const bytes = Buffer.from(token, 'base64url')
  const expiry = bytes.subarray(0, expiryBytes)
  const mac = macOf(services, org, commandId, expiry)
  if (bytes.length !== expiryBytes + mac.length || !timingSafeEqual(bytes.subarray(expiryBytes), mac)) return false
  return expiry.readUIntBE(0, expiryBytes) * 1000 > services.clock.now()
}

interface ActiveUpload {
  readonly stream: Readable
  readonly ended: Promise<void>
}

/** Receives the log bundles of devices, one upload per command at a time. */
export class BundleUploads {
  readonly #services: Services
  readonly #storage: BundleStorage
  readonly #quotaBytes: () => number
  /** The key is the id of the command. */
  readonly #active = new Map<string, ActiveUpload>()

  constructor(services: Services, storage: BundleStorage, quotaBytes: () => number) {
    this.#services = services
    this.#storage = storage
    this.#quotaBytes = quotaBytes
  }

  async upload(
    device: Device,
    commandId: string,
    token: string,
    stream: Readable,
    declaredLength: number | undefined,
  ): Promise<void> {
    await requireUploadTarget(this.#services, device, commandId)
    if (!isTokenValid(this.#services, device.org, commandId, token)) throw invalidAddress()
    if (declaredLength !== undefined && declaredLength > maxBundleBytes) throw bundleTooLarge()
    // A device that lost its connection uploads again while the old connection still hangs, so the new upload ends the old
    // one. With one upload at a time, a faulty device cannot fill the disk with partial files.
    for (let previous = this.#active.get(commandId); previous; previous = this.#active.get(commandId)) {
      previous.stream.destroy()
      await previous.ended
    }
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    this.#active.set(commandId, { stream, ended })
    try {
      await this.#receive(device, commandId, stream, declaredLength)
    } catch (error) {
      throw stream.destroyed && !(error instanceof Failure) ? uploadInterrupted() : error
    } finally {
      this.#active.delete(commandId)
      resolve()
    }
  }

  async #receive(device: Device, commandId: string, stream: Readable, declaredLength = maxBundleBytes): Promise<void> {
    const target = await requireUploadTarget(this.#services, device, commandId)
    const upload = { org: device.org.key, report: target.report_id, id: randomUUID() }
    await this.#reserve(upload, device.id, declaredLength)
    const size = await this.#store(upload, stream)
    if (await this.#finish(upload, device, commandId, size)) return
    await this.#storage.remove(upload)
    throw notRequested()
  }

  /** Reserves before it sums up: of two uploads that come at the same time, each sees the other one, so they never exceed the quota. */
  async #reserve(upload: BundleUpload, endpoint: string, bytes: number): Promise<void> {
    const { db, clock } = this.#services
    const { org, report, id } = upload
    await db
      .forOrg(org)
      .bulkTransaction((tx) => insertUpload(tx, { id, report, endpoint, bytes, at: clock.now() }))
      .catch(throwUnlessDeleted)
    if ((await sumBundleBytes(db.system)) <= this.#quotaBytes()) return
    await this.#storage.remove(upload)
    throw quotaReached()
  }

  async #store(upload: BundleUpload, stream: Readable): Promise<number> {
    const pieces = new CheckedPieces(stream)
    try {
      await this.#storage.write(upload, pieces)
      return pieces.size
    } catch (error) {
      // If this fails too, a scheduled task removes the upload.
      await this.#storage.remove(upload).catch(() => {})
      return throwUnlessDeleted(error)
    }
  }

  /**
   * Makes this upload the one that counts. Returns false if the logs are no longer wanted, because another upload was first for
   * example. If the database connection is lost here, the upload may or may not count: it stays until a scheduled task decides.
   */
  async #finish(upload: BundleUpload, device: Device, commandId: string, size: number): Promise<boolean> {
    const { db, clock, feed } = this.#services
    const { org, id } = upload
    const finished = await db.forOrg(org).telemetry(async (tx) => {
      const at = clock.now()
      if (!(await updateUploadSize(tx, { id, bytes: size }))) return undefined
      const command = await finishCommand(tx, { id: commandId, state: 'SUCCEEDED', error: null, at })
      if (!command) return undefined
      await updateUploaded(tx, { command: commandId, upload: id, file: `${device.id}.log.gz`, size, at })
      await queueFinishedCommands(tx, [commandView(command)])
      return command
    })
    if (finished) await feed.forOrg(org).publish([commandEventDraft(commandView(finished))])
    return finished !== undefined
  }
}

/** Throws unless the logs are still requested. A command of another device is answered as one that does not exist. */
async function requireUploadTarget(services: Services, device: Device, commandId: string): Promise<UploadTargetRow> {
  const row = await findUploadTarget(services.db.forOrg(device.org.key), { id: commandId })
  const target = mustFind(row?.endpoint_id === device.id ? row : undefined, 'such operation of this device')
  const refusal = findRefusal(target, services.clock.now())
  if (refusal) throw refusal
  return target
}

function findRefusal({ file, state, deadline }: UploadTargetRow, now: number): Failure | undefined {
  if (file !== null) return new Failure('FAILED_PRECONDITION', 'these logs are already stored. Do not send them again.')
  const isOpen = (openCommandStates as readonly string[]).includes(state) && deadline > now
  return isOpen ? undefined : notRequested()
}

const notRequested = () => new Failure('FAILED_PRECONDITION', 'the request for these logs has ended. Do not send them.')

/** An upload is deleted with its report, and then the database refuses everything that belongs to it. */
function throwUnlessDeleted(error: unknown): never {
  throw foreignKeyCodes.has((error as { code?: string }).code ?? '') ? notRequested() : error
}
const foreignKeyCodes = new Set(['23503', 'SQLITE_CONSTRAINT_FOREIGNKEY'])

const quotaReached = () =>
  new Failure(
    'UNAVAILABLE',
    'The space for log bundles is used up, and nothing was stored. Raise bundle-quota, or shorten log-retention, with "roomkeeper settings set"; the device sends it again later.',
    { retryAfterSeconds: 300 },
  )

const invalidAddress = () =>
  new Failure('PERMISSION_DENIED', 'This address is not valid, or no longer. Report URL_WANTED to get a new one.')

const uploadInterrupted = () =>
  new Failure('INVALID_ARGUMENT', 'the upload broke off, and nothing was stored. Send it again.')

/**
 * Returns the command with a new upload address if its logs are still requested. This also applies to a command that the
 * device has acknowledged.
 */
export async function renewLogsCommand(
  services: Services,
  device: Device,
  commandId: string,
): Promise<DeviceCommandMessage | undefined> {
  const db = services.db.forOrg(device.org.key)
  const target = await findUploadTarget(db, { id: commandId })
  if (target?.endpoint_id !== device.id || findRefusal(target, services.clock.now())) return undefined
  const command = await findCommand(db, { id: commandId })
  return command && commandMessage(command, (id) => uploadUrl(services, device.org, id))
}

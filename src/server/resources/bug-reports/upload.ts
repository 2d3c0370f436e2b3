// How the logs of a device arrive: an address that is bound to it, and the one upload that counts. [contract 6.bugReports]

import { timingSafeEqual } from 'node:crypto'
import type { Readable } from 'node:stream'
import { type DeviceCommandMessage, devicePaths, maxBundleBytes } from '../../../contract/device.ts'
import { openCommandStates } from '../../../contract/device-commands.ts'
import type { Org } from '../../auth/keyring.ts'
import type { Services } from '../../context/services.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { Device } from '../../devices/mqtt/handlers.ts'
import { findCommand, finishCommand } from '../commands/store.ts'
import { commandEventDraft, commandMessage, commandView } from '../commands/view.ts'
import { removeBundle, storeBundle, tooLarge } from './files.ts'
import { findUploadTarget, type UploadTargetRow, updateUploaded } from './store.ts'

/** In seconds. */
const validFor = 24 * 3600
const expiryBytes = 6

/** Where the logs go. Every call makes a new address; each works for a day. */
export function uploadUrl(services: Services, org: Org, operationId: string): string {
  const expiry = Buffer.alloc(expiryBytes)
  expiry.writeUIntBE(Math.floor(services.clock.now() / 1000) + validFor, 0, expiryBytes)
  const token = Buffer.concat([expiry, macOf(services, org, operationId, expiry)])
  return `${services.publicUrl()}${devicePaths.logs}/${operationId}/${token.toString('base64url')}`
}

const macOf = ({ secrets }: Services, org: Org, operationId: string, expiry: Buffer) =>
  secrets.mac('log upload', `${org.id}/${operationId}/`, expiry)

function isValid(services: Services, org: Org, operationId: string, token: string): boolean {
  const bytes = Buffer.from(token, 'base64url')
  const expiry = bytes.subarray(0, expiryBytes)
  const mac = macOf(services, org, operationId, expiry)
  if (bytes.length !== expiryBytes + mac.length || !timingSafeEqual(bytes.subarray(expiryBytes), mac)) return false
  return expiry.readUIntBE(0, expiryBytes) * 1000 > services.clock.now()
}

/** By operation. */
const underWay = new Map<string, { readonly stream: Readable; readonly ended: Promise<void> }>()

export async function uploadBundle(
  services: Services,
  folder: string,
  device: Device,
  operationId: string,
  token: string,
  stream: Readable,
  declaredLength: number | undefined,
): Promise<void> {
  await asked(services, device, operationId)
  if (!isValid(services, device.org, operationId, token)) throw wrongAddress()
  if (declaredLength !== undefined && declaredLength > maxBundleBytes) throw tooLarge()
  // A device that lost its connection begins again while the old one hangs. One at a time: a bad one fills no disk.
  for (let before = underWay.get(operationId); before; before = underWay.get(operationId)) {
    before.stream.destroy()
    await before.ended
  }
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  underWay.set(operationId, { stream, ended })
  try {
    await receive(services, folder, device, operationId, stream)
  } catch (error) {
    throw stream.destroyed && !(error instanceof Failure) ? brokeOff() : error
  } finally {
    underWay.delete(operationId)
    resolve()
  }
}

async function receive(services: Services, root: string, device: Device, operationId: string, stream: Readable) {
  const wanted = await asked(services, device, operationId)
  const org = device.org.key
  const name = `${device.id}.log.gz`
  const size = await storeBundle({ root, org, report: wanted.report_id, name }, stream)
  // If the database is lost here, nobody knows whether this was written. The file stays: at worst the next one replaces it.
  const finished = await services.db.forOrg(org).telemetry(async (tx) => {
    const at = services.clock.now()
    const operation = await finishCommand(tx, { id: operationId, state: 'SUCCEEDED', error: null, at })
    if (operation) await updateUploaded(tx, { operation: operationId, file: name, size, at })
    return operation
  })
  if (finished) return services.feed.forOrg(org).publish([commandEventDraft(commandView(finished))])
  await removeBundle(root, org, wanted.report_id, name)
  throw notWanted()
}

/** Insists that the logs are wanted. An operation of somebody else does not exist for this device. */
async function asked(services: Services, device: Device, operationId: string): Promise<UploadTargetRow> {
  const row = await findUploadTarget(services.db.forOrg(device.org.key), operationId)
  const wanted = mustFind(row?.endpoint_id === device.id ? row : undefined, 'such operation of this device')
  const problem = problemWith(wanted, services.clock.now())
  if (problem) throw problem
  return wanted
}

function problemWith({ file, state, deadline }: UploadTargetRow, now: number): Failure | undefined {
  if (file !== null)
    return new Failure('FAILED_PRECONDITION', 'these logs are already there. There is nothing to send.')
  const isOpen = (openCommandStates as readonly string[]).includes(state) && deadline > now
  return isOpen ? undefined : notWanted()
}

const notWanted = () => new Failure('FAILED_PRECONDITION', 'these logs are no longer wanted. There is nothing to send.')

const wrongAddress = () =>
  new Failure('PERMISSION_DENIED', 'This address is not valid, or no longer. Report URL_WANTED to get a new one.')

const brokeOff = () => new Failure('INVALID_ARGUMENT', 'the upload broke off, and nothing was stored. Send it again.')

/**
 * Whatever the device says about its logs: if they are wanted and not there, the operation once more, with a new address,
 * also if the device has acknowledged it.
 */
export async function logsCommand(
  services: Services,
  device: Device,
  operationId: string,
): Promise<DeviceCommandMessage | undefined> {
  if (!(await isMissing(services, device, operationId))) return undefined
  const operation = await findCommand(services.db.forOrg(device.org.key), operationId)
  return operation && commandMessage(operation, (id) => uploadUrl(services, device.org, id))
}

async function isMissing(services: Services, device: Device, operationId: string): Promise<boolean> {
  const wanted = await findUploadTarget(services.db.forOrg(device.org.key), operationId)
  return wanted?.endpoint_id === device.id && !problemWith(wanted, services.clock.now())
}

// Enrols devices: a device with the enrolment code of a room becomes an endpoint in it. [contract 8.enrolment]

import { randomUUID } from 'node:crypto'
import type { EnrolRequest } from '../../../contract/device/protocol.ts'
import { hourMs } from '../../../contract/durations.ts'
import { hasProfilesOfSource, type SourceType } from '../../../contract/fleet/drivers.ts'
import { makeCredential, tokenHash } from '../../auth/token.ts'
import { RequestContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { Failure } from '../../core/failure.ts'
import { RegionAccess } from '../../core/region-access.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { SystemReader } from '../../db/system.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { endpointDraft, queueMessages } from '../../journal/outbox/outbox.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { makeVersions } from '../configs/make-versions.ts'
import { deleteExplicit, deleteReported, endConfig } from '../configs/store.ts'
import { replaceItemsOfEndpoint } from '../gateways/removal.ts'
import { enrolmentCodeMac, isEnrolmentCodeExpired } from '../rooms/enrolment-code.ts'
import { findDec, findRoom, type RoomRow, useDec } from '../rooms/store.ts'
import { canDo, takesProfile } from './device-actions.ts'
import {
  claimSerial,
  type EnrolledRow,
  findBySerial,
  insertEndpoint,
  replaceCredential,
  updateEnrolled,
} from './device-store.ts'
import { auditedEndpoint, emptyGivenValues, endpointRef } from './fields.ts'
import { listPastEndpoints } from './past-credential-store.ts'
import { updateGivenValues } from './store.ts'

export interface EnrolmentResult {
  readonly orgId: string
  readonly roomId: number
  readonly endpointId: string
  readonly credential: string
}

export interface DeviceOrigin {
  readonly ip: string
  readonly requestId: string
}

/** Each node checks its connections every minute and closes those without an endpoint, so an older unenrolment has left none. */
const oldConnectionMs = hourMs

export async function enrolDevice(
  services: Services,
  request: EnrolRequest,
  origin: DeviceOrigin,
): Promise<EnrolmentResult> {
  const code = await findDec(services.db.system, { mac: enrolmentCodeMac(services.secrets, request.code) })
  if (!code) throw refused('No room has this enrolment code. Check it, or ask for the present one.')
  const ctx = new RequestContext(
    services,
    {
      org: { key: code.org, id: code.org_id },
      actor: { type: 'DEVICE', id: request.serial, name: request.serial },
      may: () => false,
      access: RegionAccess.everything,
    },
    origin,
  )
  const problem = await findCodeProblem(ctx, ctx.db, code)
  if (problem) {
    await recordRefusal(ctx, request, code.room_id, problem)
    throw refused(problem)
  }
  const since = ctx.clock.now() - oldConnectionMs
  // On SQLite there is no other node that could have missed a message.
  const past =
    services.db.engine === 'sqlite'
      ? []
      : await listPastEndpoints(services.db.system, { serial: request.serial, since })
  const { gateways, ...enrolled } = await change(ctx, 'deviceEnrolled', (tx) => enrol(tx, ctx, request, code))
  // A device that connected since the check in the transaction used the old credential, which is no longer valid. A connection of an
  // unenrolled endpoint with this serial is open only if its node has missed the message about the unenrolment.
  services.devices.cut([enrolled.endpointId, ...past.map((row) => row.endpoint_id)], 'replaced')
  services.devices.wake(gateways)
  return enrolled
}

type Code = NonNullable<Awaited<ReturnType<typeof findDec>>>

async function enrol(tx: Tx, ctx: RequestContext, request: EnrolRequest, code: Code) {
  // The room or its code can have changed before this transaction started, so both are read again.
  const directory = SystemReader.within(tx)
  const present = await findDec(directory, { mac: code.mac })
  const problem = present ? await findCodeProblem(ctx, tx, present) : 'The room of this enrolment code is gone.'
  const room = await findRoom(tx, { id: code.room_id })
  if (problem || !room) throw refused(problem ?? 'The room of this enrolment code is gone.')
  const known = await findBySerial(directory, { serial: request.serial })
  if (known && known.org !== ctx.org.key) throw enrolledElsewhere(request.serial)
  if (known && (await regionOfRoom(tx, known.room_id)) !== room.region_id) throw enrolledElsewhere(request.serial)
  if (known?.connected) throw stillConnected(request.serial)

  await useDec(tx, { id: room.id, at: ctx.clock.now() })
  if (known?.room_id !== room.id) await raiseResourceVersions(tx, { endpointsOfRoom: [known?.room_id] })
  // A device that was seen through a gateway speaks for itself now.
  const gateways = known?.via ? await replaceItemsOfEndpoint(tx, known.id, ctx.clock.now()) : []
  const enrolled = await enrolEndpoint(tx, ctx, { ...request, room, known, via: null, source: null })
  return { ...enrolled, result: { ...enrolled.result, gateways } }
}

interface Enrolment extends Pick<EnrolRequest, 'serial' | 'model' | 'pairingSerial'> {
  readonly room: RoomRow
  /** The endpoint that has the serial. */
  readonly known: Awaited<ReturnType<typeof findBySerial>>
  /** The gateway through which the device is seen. */
  readonly via: string | null
  /** The source of which the gateway knows the device. */
  readonly source: { readonly id: string; readonly type: SourceType; readonly isReadOnly: boolean } | null
  /** The name that a new endpoint gets. */
  readonly name?: string | null
}

/** Gives a device an endpoint, or the one that it had, with a new credential. The caller raises the versions of the rooms. */
export async function enrolEndpoint(tx: Tx, ctx: RequestContext, enrolment: Enrolment) {
  const { serial, model, pairingSerial, room, known, via, source, name = null } = enrolment
  // The reported actions of a known device hold until its next status. Nothing is set at a source that is only read.
  const described = { model, actions: known?.actions ?? null, source_type: source?.type ?? null }
  const hasSettings = source?.isReadOnly !== true && canDo(described, 'config')
  const endpoint: EnrolledRow = {
    id: known?.id ?? randomUUID(),
    serial,
    pairing_serial: pairingSerial ?? known?.pairing_serial ?? null,
    model,
    room_id: room.id,
    profile_id: hasSettings && takesProfile(described) ? room.profile_id : null,
    via,
    source_id: source?.id ?? null,
    source_type: source?.type ?? null,
    // The gateway opens only devices that the source lists.
    missing_at_source: 0,
    enrolment_time: ctx.clock.now(),
  }
  if (known) {
    await updateEnrolled(tx, endpoint)
  } else {
    await insertEndpoint(tx, endpoint)
    if (name !== null) {
      const given = { ...emptyGivenValues, name, given_name: name, rest: null }
      await updateGivenValues(tx, { id: endpoint.id, ...given })
    }
    if (!(await claimSerial(tx, { serial, id: endpoint.id }))) throw enrolledElsewhere(serial)
  }
  const credential = makeCredential()
  await replaceCredential(tx, endpoint.id, tokenHash(credential))
  const hadConfig = known !== undefined && (await deleteReported(tx, endpoint.id))
  // Earlier settings may have been changed at the source since then: only those that a person sets from now on go there.
  if (hadConfig && hasProfilesOfSource(endpoint.source_type)) await deleteExplicit(tx, endpoint.id)
  if (!hasSettings) await endConfig(tx, endpoint.id, ctx.clock.now())
  // A known serial may now be other hardware, so it gets the whole config again and may refuse other keys.
  else if (hadConfig || (known?.profile_id ?? null) !== endpoint.profile_id) await makeVersions(tx, ctx, [endpoint.id])
  const { location_id: locationId, region_id: regionId } = room
  const place = { roomId: room.id, locationId, regionId }
  const named = { ...endpoint, name: known ? known.name : name }
  await queueMessages(tx, [endpointDraft('endpoint.enrolled', { ...named, ...place }, endpoint.enrolment_time)])
  return {
    result: { orgId: ctx.org.id, roomId: room.id, endpointId: endpoint.id, credential },
    target: endpointRef(named),
    ...(known && { before: auditedEndpoint.all({ ...known, serial }) }),
    after: auditedEndpoint.all(endpoint),
    affected: [auditRef('room', room)],
  }
}

async function findCodeProblem(ctx: RequestContext, on: OrgReader, code: Code): Promise<string | undefined> {
  if (!code.is_present) return 'This enrolment code was replaced by a newer one. Ask for the present one.'
  const room = await findRoom(on, { id: code.room_id })
  return room && isEnrolmentCodeExpired(room, ctx.clock.now())
    ? 'This enrolment code has expired. Ask for a new one.'
    : undefined
}

/** Writes an audit entry, because the device knew a code that once worked. [contract 5.4.audit] */
const recordRefusal = (ctx: RequestContext, { serial, model }: EnrolRequest, roomId: number, reason: string) =>
  change(ctx, 'deviceEnrolmentRefused', async (tx) => {
    const room = await findRoom(tx, { id: roomId })
    return {
      result: undefined,
      target: auditRef('room', { id: roomId, name: room?.name ?? '' }),
      after: { serial, model, reason },
    }
  })

/** The code of a room is shown to people who see one region only, so it moves no endpoint out of another region. [contract 11.access] */
const regionOfRoom = async (tx: Tx, roomId: number | null): Promise<number | null> =>
  (roomId === null ? undefined : await findRoom(tx, { id: roomId }))?.region_id ?? null

const refused = (sentence: string) => new Failure('PERMISSION_DENIED', sentence)

const enrolledElsewhere = (serial: string) =>
  new Failure('FAILED_PRECONDITION', `device ${serial} is enrolled elsewhere. Unenrol it there first.`)

/** A serial is printed on the box and proves nothing, so it must not replace the credential of a connected device. */
const stillConnected = (serial: string) =>
  new Failure(
    'ABORTED',
    `Device ${serial} is connected with the credential that it has. Disconnect it, or unenrol it, then enrol again.`,
    { retryAfterSeconds: 60 },
  )

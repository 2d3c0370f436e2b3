// Enrolment: a device with the code of a room becomes an endpoint of it. [contract 8.enrolment]

import { randomUUID } from 'node:crypto'
import type { EnrolRequest } from '../../../contract/device.ts'
import { makeCredential, tokenHash } from '../../auth/token.ts'
import { RequestContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { Failure } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { SystemReader } from '../../db/system.ts'
import { auditRef, change } from '../audit/change.ts'
import { makeVersions } from '../configs/make-versions.ts'
import { deleteReported } from '../configs/store.ts'
import { raiseResourceVersions } from '../places/versions.ts'
import { enrolmentCodeMac, isEnrolmentCodeExpired } from '../rooms/enrolment-code.ts'
import { findDec, findRoom, useDec } from '../rooms/store.ts'
import {
  claimSerial,
  type EnrolledRow,
  findBySerial,
  insertEndpoint,
  replaceCredential,
  updateEnrolled,
} from './device-store.ts'
import { endpointRef } from './view.ts'

export interface EnrolIdentity {
  readonly endpointId: string
  readonly credential: string
}

interface From {
  readonly ip: string
  readonly requestId: string
}

export async function enrolDevice(services: Services, request: EnrolRequest, from: From): Promise<EnrolIdentity> {
  const code = await findDec(services.db.system, { mac: enrolmentCodeMac(services.secrets, request.code) })
  if (!code) throw refused('No room has this enrolment code. Check it, or ask for the present one.')
  const ctx = new RequestContext(
    services,
    {
      org: { key: code.org, id: code.org_id },
      actor: { type: 'DEVICE', id: request.serial, name: request.serial },
      may: () => false,
    },
    from,
  )
  const problem = await codeProblem(ctx, ctx.db, code)
  if (problem) {
    await changeRefused(ctx, request, code.room_id, problem)
    throw refused(problem)
  }
  const enrolled = await change(ctx, 'deviceEnrolled', (tx) => accept(tx, ctx, request, code))
  // It was not connected a moment ago; if it is now, then with a credential that is dead.
  services.devices.cut([enrolled.endpointId], 'replaced')
  return enrolled
}

type Code = NonNullable<Awaited<ReturnType<typeof findDec>>>

async function accept(tx: Tx, ctx: RequestContext, request: EnrolRequest, code: Code) {
  // Whoever changed the room or its code before us has committed: look again.
  const directory = SystemReader.within(tx)
  const present = await findDec(directory, { mac: code.mac })
  const problem = present ? await codeProblem(ctx, tx, present) : 'The room of this enrolment code is gone.'
  const room = await findRoom(tx, { id: code.room_id })
  if (problem || !room) throw refused(problem ?? 'The room of this enrolment code is gone.')
  const known = await findBySerial(directory, { serial: request.serial })
  if (known && known.org !== ctx.org.key) throw elsewhere(request.serial)
  if (known && ctx.devices.isConnected(known.id)) throw connected(request.serial)

  const endpoint: EnrolledRow = {
    id: known?.id ?? randomUUID(),
    serial: request.serial,
    pairing_serial: request.pairingSerial ?? known?.pairing_serial ?? null,
    model: request.model,
    room_id: room.id,
    profile_id: room.profile_id,
    enrolment_time: ctx.clock.now(),
  }
  if (known) {
    await updateEnrolled(tx, endpoint)
  } else {
    await insertEndpoint(tx, endpoint)
    if (!(await claimSerial(tx, { serial: endpoint.serial, id: endpoint.id }))) throw elsewhere(request.serial)
  }
  const credential = makeCredential()
  await replaceCredential(tx, endpoint.id, tokenHash(credential))
  await useDec(tx, { id: room.id, at: ctx.clock.now() })
  if (known?.room_id !== room.id) await raiseResourceVersions(tx, { endpointsOfRoom: [known?.room_id] })
  // Behind a known serial may be other hardware: it is told everything again, and may refuse something else.
  const hadConfig = known !== undefined && (await deleteReported(tx, endpoint.id))
  if (hadConfig || (known?.profile_id ?? null) !== room.profile_id) await makeVersions(tx, ctx, [endpoint.id])
  return {
    result: { endpointId: endpoint.id, credential },
    target: endpointRef(endpoint),
    ...(known && { before: { model: known.model, roomId: known.room_id, profileId: known.profile_id } }),
    after: { model: endpoint.model, roomId: room.id, profileId: room.profile_id },
    affected: [auditRef('room', room)],
  }
}

async function codeProblem(ctx: RequestContext, on: OrgReader, code: Code): Promise<string | undefined> {
  if (!code.is_present) return 'This enrolment code was replaced by a newer one. Ask for the present one.'
  const room = await findRoom(on, { id: code.room_id })
  return room && isEnrolmentCodeExpired(room, ctx.clock.now())
    ? 'This enrolment code has expired. Ask for a new one.'
    : undefined
}

/** Somebody knew a code that once worked: worth an entry. [contract 5.4.audit] */
const changeRefused = (ctx: RequestContext, { serial, model }: EnrolRequest, roomId: number, reason: string) =>
  change(ctx, 'deviceEnrolmentRefused', async (tx) => {
    const room = await findRoom(tx, { id: roomId })
    return {
      result: undefined,
      target: auditRef('room', { id: roomId, name: room?.name ?? '' }),
      after: { serial, model, reason },
    }
  })

const refused = (sentence: string) => new Failure('PERMISSION_DENIED', sentence)

const elsewhere = (serial: string) =>
  new Failure('FAILED_PRECONDITION', `device ${serial} is enrolled elsewhere. Unenrol it there first.`)

/** A serial is printed on the box, it proves nothing. */
const connected = (serial: string) =>
  new Failure(
    'ABORTED',
    `Device ${serial} is connected with the credential that it has. Disconnect it, or unenrol it, then enrol again.`,
    { headers: { 'Retry-After': '60' } },
  )

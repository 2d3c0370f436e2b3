// Answers how to enrol a device in a room: the code, the address that the QR code contains, and the QR code.
import { renderSVG } from 'uqr'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import { enrolmentCodeContext, enrolmentCodeFields, enrolmentUrl } from './enrolment-code.ts'
import { findRoom } from './store.ts'

export async function roomsEnrolmentGet(ctx: RequestContext, id: number) {
  const { db, secrets, clock, publicUrl } = ctx
  const room = mustFind(await findRoom(db, { id }), `room ${id}`)
  const { dec } = enrolmentCodeFields(secrets, enrolmentCodeContext(ctx.org.id, id), room, clock.now())
  if (dec === undefined) {
    throw new Failure('FAILED_PRECONDITION', `the enrolment code of room ${id} has expired. Make a new one first.`)
  }
  const url = enrolmentUrl(publicUrl, dec)
  return { dec, url, qr: renderSVG(url, { border: 2, pixelSize: 8 }) }
}

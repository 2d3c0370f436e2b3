// How to enrol a device in a room: its code, the address that its QR code holds, and the QR code itself.
import { renderSVG } from 'uqr'
import type { By } from '../../context/request-context.ts'
import { Failure, found } from '../../core/failure.ts'
import { decFields, sealContext } from './enrolment-code.ts'
import { findRoom } from './store.ts'

export async function roomsEnrolmentGet(by: By, id: number) {
  const { db, secrets, clock, publicUrl } = by.ground
  const room = found(await findRoom(db, by.org.key, id), `room ${id}`)
  const { dec } = decFields(secrets, sealContext(by.org.id, id), room, clock.now())
  if (dec === undefined) {
    throw new Failure('FAILED_PRECONDITION', `the enrolment code of room ${id} has expired. Make a new one first.`)
  }
  const url = `${publicUrl()}/enrol#${dec}`
  return { dec, url, qr: renderSVG(url, { border: 2, pixelSize: 8 }) }
}

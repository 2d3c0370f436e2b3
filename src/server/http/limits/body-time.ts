// Limits how long the body of a request may take to arrive. [contract 7.21]
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerUnreadable } from '../input/unreadable.ts'

/** Limits a body whose sender is not authenticated, and the rest of a body whose request was already answered. */
const unauthenticatedBodyTimeoutMs = 20_000
/** Limits a body that is parsed, which has at most 256 KiB. */
const parsedBodyTimeoutMs = 60_000

export function limitBodyTime(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request
  const { socket } = raw
  if (socket.destroyed) return
  const expire = () => answerUnreadable(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  const { slow } = request.routeOptions.config
  let timer = setTimeout(() => {
    // A route marked `slow` (log upload) checks its own credential, and answers immediately if it is wrong.
    if (reply.raw.writableEnded || !(request.caller || slow)) expire()
    else if (!slow) timer = setTimeout(expire, parsedBodyTimeoutMs - unauthenticatedBodyTimeoutMs)
  }, unauthenticatedBodyTimeoutMs)
  const release = () => {
    clearTimeout(timer)
    raw.off('close', release)
    socket.off('close', release)
  }
  raw.once('close', release)
  // Node emits no 'close' on a request that was answered before its body had arrived, if the connection ends then.
  socket.once('close', release)
}

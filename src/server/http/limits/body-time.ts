// Limits how long the body of a request may take to arrive. [contract 7.21]
import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TimeLimits } from '../../core/time-limits.ts'
import { answerUnreadable } from '../input/unreadable.ts'

/** `strangerBodyMs` limits a body without a valid credential, and the rest of a body whose request was already answered. */
export function limitBodyTime(request: FastifyRequest, reply: FastifyReply, limits: TimeLimits): void {
  const { raw } = request
  const { socket } = raw
  // A request that the server makes to itself has no connection, and its body is there already.
  if (!(socket instanceof Socket) || socket.destroyed) return
  // An error is made only for a late body: its stack trace would take 6 % of the CPU of a write.
  const expire = () =>
    answerUnreadable(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket, limits)
  const { slow } = request.routeOptions.config
  let timer = setTimeout(() => {
    // A route marked `slow` (log upload) checks its own credential, and answers immediately if it is wrong.
    if (reply.raw.writableEnded || !(request.caller || slow)) expire()
    else if (!slow) timer = setTimeout(expire, limits.parsedBodyMs - limits.strangerBodyMs)
  }, limits.strangerBodyMs)
  const release = () => {
    clearTimeout(timer)
    raw.off('close', release)
    socket.off('close', release)
  }
  raw.once('close', release)
  // Node emits no 'close' on a request that was answered before its body had arrived, if the connection ends then.
  socket.once('close', release)
}

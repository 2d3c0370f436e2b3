// Limits how long the body of a request may take to arrive. [contract 7.21]
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerUnreadable } from './unreadable.ts'

/** For a body that nobody has shown a credential for, and for the rest of one whose request is answered already. */
const unauthenticatedBodyMs = 20_000
/** For a body that is parsed: it has at most 1 MiB. */
const parsedBodyMs = 60_000

export function limitBodyTime(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request
  const { socket } = raw
  if (socket.destroyed) return
  const expire = () => answerUnreadable(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  const { slow } = request.routeOptions.config
  let timer = setTimeout(() => {
    // A slow route checks the credential by itself, and answers at once if it is wrong.
    if (reply.raw.writableEnded || !(request.caller || slow)) expire()
    else if (!slow) timer = setTimeout(expire, parsedBodyMs - unauthenticatedBodyMs)
  }, unauthenticatedBodyMs)
  const release = () => {
    clearTimeout(timer)
    raw.off('close', release)
    socket.off('close', release)
  }
  raw.once('close', release)
  // Node emits no 'close' on a request that was answered before its body had arrived, if the connection ends then.
  socket.once('close', release)
}

// Contenders that are asked over HTTP: a load generator in front of each server.
import type { Cleanup } from '../cleanup.ts'
import { HttpLoad, type RequestSource } from '../load/http-load.ts'
import type { ComparedServer } from '../servers/bare.ts'
import type { Contender } from './comparison.ts'

export interface HttpWorkload {
  readonly request: RequestSource
  readonly status?: number
  readonly connections?: number
  /** Requests before anything is measured, so that V8 has compiled the functions that run often. */
  readonly warmUp: number
}

/** Keeps its connections open from round to round. */
export async function httpContender(
  cleanup: Cleanup,
  { name, process, url }: ComparedServer,
  { request, status = 200, connections = 10, warmUp }: HttpWorkload,
): Promise<Contender> {
  const load = await HttpLoad.connect(url, connections)
  cleanup.add(() => load.close())
  await load.send(warmUp, request, status)
  return { name, process, send: (count) => load.send(count, request, status) }
}

/** Opens new connections for each slice, because peers close connections that are idle for five seconds. */
export async function peerContender(
  { name, process, url }: ComparedServer,
  { request, status = 200, connections = 10, warmUp, share }: HttpWorkload & { readonly share: number },
): Promise<Contender> {
  const send = async (count: number) => {
    const load = await HttpLoad.connect(url, connections)
    try {
      return await load.send(count, request, status)
    } finally {
      load.close()
    }
  }
  await send(warmUp)
  return { name, process, share, send }
}

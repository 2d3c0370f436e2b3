// Serves the ways to sign in, the ceremonies of passkeys, and a person's own passkeys. [contract 11.local]

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { largeBodyBytes } from '../../../contract/operation.ts'
import {
  PasskeyAdd,
  PasskeySignIn,
  passkeyAddPath,
  passkeyOptionsPath,
  passkeySignInOptionsPath,
  passkeySignInPath,
  passkeysPath,
  signInPath,
} from '../../../contract/people/sign-in.ts'
import type { Services } from '../../context/services.ts'
import { Failure, preconditionFailed } from '../../core/failure.ts'
import type { SignInCounter } from '../../core/metrics/metrics.ts'
import { passkeyProblemOf, type RelyingParty, relyingPartyOf, type SignInAddresses } from '../../core/relying-party.ts'
import type { CountRefusal } from '../../http/gate.ts'
import { bodyReader } from '../../http/input/input.ts'
import { browserName } from '../sessions/browser-name.ts'
import { type BrowserSessions, originOf } from '../sessions/browser-sessions.ts'
import { makePasskeySignInOptions, sessionStartByPasskey } from './passkey-sign-in.ts'
import { addPasskey, listOwnPasskeys, makePasskeyOptions, removePasskey } from './passkeys.ts'
import { listSignInWays } from './ways.ts'

interface SignInRouteOptions {
  readonly services: Services
  readonly browser: BrowserSessions
  readonly refuse: CountRefusal
  readonly countSignIn: SignInCounter
  readonly addresses: SignInAddresses
}

export function signInRoutes(
  app: FastifyInstance,
  { services, browser, refuse, countSignIn, addresses }: SignInRouteOptions,
): void {
  const readSignIn = bodyReader(PasskeySignIn, {}) as (body: unknown) => PasskeySignIn
  const readAdd = bodyReader(PasskeyAdd, {}) as (body: unknown) => PasskeyAdd
  const onRequest = browser.checkOrigin

  const requireParty = (): RelyingParty => {
    const url = addresses.passkeyUrl()
    const party = relyingPartyOf(url)
    if (party) return party
    throw preconditionFailed(passkeyProblemOf(url) ?? '')
  }

  app.get(signInPath, { onRequest }, async (_request, reply) =>
    browser.answer(reply, await listSignInWays(services, addresses)),
  )

  app.post(passkeySignInOptionsPath, { onRequest }, async (_request, reply) =>
    browser.answer(reply, await makePasskeySignInOptions(services, requireParty())),
  )

  app.post(passkeySignInPath, { onRequest }, async (request, reply) => {
    const { response } = readSignIn(request.body)
    const party = requireParty()
    const from = { response, browser: browserName(request.headers['user-agent']) }
    let secret: string
    try {
      secret = await sessionStartByPasskey(services, party, from, originOf(request))
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'UNAUTHENTICATED') throw error
      countSignIn('passkey', 'refused')
      throw refuse(request, error)
    }
    countSignIn('passkey', 'accepted')
    return browser.answer(reply, await browser.view(await browser.start(request, reply, secret)))
  })

  app.get(passkeysPath, { onRequest }, async (request, reply) => {
    const person = await browser.requirePerson(request, reply)
    return browser.answer(reply, { passkeys: await listOwnPasskeys(services, person) })
  })

  app.post(passkeyOptionsPath, { onRequest }, async (request, reply) => {
    const person = await browser.requirePerson(request, reply)
    return browser.answer(reply, await makePasskeyOptions(services, requireParty(), person))
  })

  /** A long body is read only if it comes from a person who is signed in. */
  const requireSession = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await browser.requirePerson(request, reply)
  }

  app.post(
    passkeyAddPath,
    { onRequest: [onRequest, requireSession], bodyLimit: largeBodyBytes },
    async (request, reply) => {
      const person = await browser.requirePerson(request, reply)
      const added = { ...readAdd(request.body), browser: browserName(request.headers['user-agent']) }
      return browser.answer(reply, await addPasskey(services, requireParty(), person, added, originOf(request)))
    },
  )

  app.delete<{ Params: { id: string } }>(`${passkeysPath}/:id`, { onRequest }, async (request, reply) => {
    const person = await browser.requirePerson(request, reply)
    await removePasskey(services, person, request.params.id, originOf(request))
    return browser.answer(reply, {})
  })
}

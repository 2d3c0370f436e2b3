// Signing in as a person: the console's requests for passkeys and sessions, and what they answer. [contract 11.local]
import Type, { type Static } from 'typebox'
import { Shape, SingleLineText } from '../shape.ts'
import type { UserSession } from './users.ts'

/** GET: the ways to sign in that the sign-in page may offer. */
export const signInPath = '/console/sign-in'
/** POST: the options of a sign-in with a passkey, as `startAuthentication` of @simplewebauthn/browser takes them. */
export const passkeySignInOptionsPath = '/console/sign-in/passkey/options'
/** POST: the answer of the authenticator. It starts a session and answers like `POST /console/session`. */
export const passkeySignInPath = '/console/sign-in/passkey/verify'
/** GET: the passkeys of the signed-in person. DELETE with an id below it removes one. */
export const passkeysPath = '/console/passkeys'
/** POST: the options of a new passkey, as `startRegistration` of @simplewebauthn/browser takes them. */
export const passkeyOptionsPath = '/console/passkeys/options'
/** POST: the answer of the authenticator. It adds the passkey and answers with it. */
export const passkeyAddPath = '/console/passkeys/verify'
/** GET: the sessions of the signed-in person. DELETE with an id below it ends one. */
export const ownSessionsPath = '/console/sessions'

/** A person may have this many passkeys. */
export const maxPasskeys = 20

/** The ways to sign in. An API key or a link always works too. */
export interface SignInWays {
  readonly passkeys: {
    readonly available: boolean
    /** The reason why passkeys cannot be used, and what to do; absent if they can be used. */
    readonly reason?: string
    /** The address at which passkeys work, such as https://rooms.example.org. Set if they are available. */
    readonly origin?: string
    /** The address of the console there, with a path if it has one. */
    readonly url?: string
  }
  /** The identity providers that are enabled: a link to `url` begins the sign-in. */
  readonly providers: readonly { readonly orgId: string; readonly orgName: string; readonly url: string }[]
}

/** The JSON forms of WebAuthn, whose details the browser and the server's library know. */
const Base64url = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' })
/** An id of WebAuthn has at most 1,023 bytes. */
const credential = {
  id: Base64url(1_400),
  rawId: Base64url(1_400),
  type: Type.Literal('public-key'),
}

export const PasskeySignIn = Shape('PasskeySignIn', {
  response: Shape('PasskeyAssertion', {
    ...credential,
    response: Shape('PasskeyAssertionResponse', {
      authenticatorData: Base64url(1_000),
      clientDataJSON: Base64url(1_000),
      // A signature of RSA with 4,096 bits has 683 characters.
      signature: Base64url(700),
      userHandle: Type.Optional(Type.Union([Base64url(100), Type.Null()])),
    }),
  }),
})
export type PasskeySignIn = Static<typeof PasskeySignIn>

export const PasskeyAdd = Shape('PasskeyAdd', {
  /** The name of the passkey; if absent, the browser and the system that added it. */
  name: Type.Optional(SingleLineText(100, 'Name of the passkey.')),
  response: Shape('PasskeyAttestation', {
    ...credential,
    response: Shape('PasskeyAttestationResponse', {
      attestationObject: Base64url(10_000),
      clientDataJSON: Base64url(10_000),
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: 10 })),
    }),
  }),
})
export type PasskeyAdd = Static<typeof PasskeyAdd>

/** One of the person's passkeys. `GET /console/passkeys` answers `{"passkeys":[…]}`. */
export interface Passkey {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  /** The time of the last sign-in with the passkey; absent if there was none. */
  readonly usedAt?: string
}

/** One of the person's sessions. `GET /console/sessions` answers `{"sessions":[…]}`. */
export type OwnSession = Static<typeof UserSession> & {
  /** Whether the request was sent with this session. */
  readonly current: boolean
}

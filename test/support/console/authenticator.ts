// An authenticator in software: makes passkeys and signs challenges as a security key does, with parts that a test can falsify.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** Parts of an answer that a test may set to something else. */
export interface Falsified {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly crossOrigin?: boolean
  readonly isVerified?: boolean
  readonly isPresent?: boolean
  readonly counter?: number
  readonly userHandle?: string | null
  readonly id?: string
  readonly signer?: KeyObject
}

interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string }
}

interface RequestOptions {
  readonly challenge: string
  readonly rpId: string
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
const text64 = (bytes: Buffer) => bytes.toString('base64url')

export class Authenticator {
  readonly id = text64(randomBytes(32))
  readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly origin: string
  userHandle = ''
  counter = 0

  constructor(origin: string) {
    this.origin = origin
  }

  /** Makes a passkey, as `navigator.credentials.create()` answers with it in JSON. */
  create(options: CreationOptions, falsified: Falsified = {}) {
    this.userHandle = options.user.id
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' })
    const coseKey = cborMap([
      [cborInt(1), cborInt(2)],
      [cborInt(3), cborInt(-7)],
      [cborInt(-1), cborInt(1)],
      [cborInt(-2), cborBytes(Buffer.from(x, 'base64url'))],
      [cborInt(-3), cborBytes(Buffer.from(y, 'base64url'))],
    ])
    const idBytes = Buffer.from(falsified.id ?? this.id, 'base64url')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(idBytes.length)
    const authData = Buffer.concat([
      this.#authenticatorData(options.rp.id, 0x40, falsified),
      Buffer.alloc(16),
      length,
      idBytes,
      coseKey,
    ])
    const attestationObject = cborMap([
      [cborText('fmt'), cborText('none')],
      [cborText('attStmt'), cborMap([])],
      [cborText('authData'), cborBytes(authData)],
    ])
    return this.#credential(falsified, {
      attestationObject: text64(attestationObject),
      clientDataJSON: text64(this.#clientData('webauthn.create', options.challenge, falsified)),
      transports: ['internal'],
    })
  }

  /** Signs a challenge, as `navigator.credentials.get()` answers in JSON. */
  get(options: RequestOptions, falsified: Falsified = {}) {
    this.counter++
    const clientData = this.#clientData('webauthn.get', options.challenge, falsified)
    const authData = this.#authenticatorData(options.rpId, 0, falsified)
    const signed = Buffer.concat([authData, sha256(clientData)])
    const { userHandle = this.userHandle } = falsified
    return this.#credential(falsified, {
      authenticatorData: text64(authData),
      clientDataJSON: text64(clientData),
      signature: text64(sign('sha256', signed, falsified.signer ?? this.keys.privateKey)),
      ...(userHandle !== null && { userHandle }),
    })
  }

  #credential<R>({ id = this.id }: Falsified, response: R) {
    return { id, rawId: id, type: 'public-key' as const, clientExtensionResults: {}, response }
  }

  #clientData(type: string, challenge: string, falsified: Falsified): Buffer {
    const { origin = this.origin, crossOrigin = false } = falsified
    return Buffer.from(
      JSON.stringify({
        type: falsified.type ?? type,
        challenge: falsified.challenge ?? challenge,
        origin,
        crossOrigin,
      }),
    )
  }

  #authenticatorData(rpId: string, moreFlags: number, falsified: Falsified): Buffer {
    const { isPresent = true, isVerified = true, counter = this.counter } = falsified
    const end = Buffer.alloc(5)
    end.writeUInt8((isPresent ? 0x01 : 0) | (isVerified ? 0x04 : 0) | moreFlags)
    end.writeUInt32BE(counter, 1)
    return Buffer.concat([sha256(falsified.rpId ?? rpId), end])
  }
}

/** The small part of CBOR (RFC 8949) that an attestation consists of. */
function cborHead(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  if (value < 256) return Buffer.from([(major << 5) | 24, value])
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255])
}
const cborInt = (value: number) => (value < 0 ? cborHead(1, -1 - value) : cborHead(0, value))
const cborBytes = (bytes: Buffer) => Buffer.concat([cborHead(2, bytes.length), bytes])
const cborText = (text: string) => Buffer.concat([cborHead(3, Buffer.byteLength(text)), Buffer.from(text)])
const cborMap = (pairs: readonly (readonly [Buffer, Buffer])[]) =>
  Buffer.concat([cborHead(5, pairs.length), ...pairs.flat()])

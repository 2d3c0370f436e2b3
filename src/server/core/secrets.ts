// The secret key outside the database, which chains the audit log, signs page tokens, and encrypts values.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { existsSync, linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { StartupError } from './failure.ts'

export type Purpose =
  | 'audit chain'
  | 'page token'
  | 'enrolment code look-up'
  | 'sealed values'
  | 'rejected value'
  | 'log upload'
  | 'identity'
  | 'identity settings'
  | 'passkey challenge'
  | 'tool confirmation'

export class Secrets {
  readonly #master: Buffer
  readonly #keys = new Map<Purpose, KeyObject>()

  constructor(master: Buffer) {
    this.#master = master
  }

  mac(purpose: Purpose, ...parts: (string | Buffer)[]): Buffer {
    const hmac = createHmac('sha256', this.#key(purpose))
    for (const part of parts) hmac.update(part)
    return hmac.digest()
  }

  /** Encrypts with AES-256-GCM. `context` names the row of the value, so that it cannot be moved to another one. */
  seal(text: string, context: string): Buffer {
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#key('sealed values'), iv).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed])
  }

  unseal(sealed: Buffer, context: string): string {
    const decipher = createDecipheriv('aes-256-gcm', this.#key('sealed values'), sealed.subarray(0, 12))
      .setAAD(Buffer.from(context))
      .setAuthTag(sealed.subarray(12, 28))
    return decipher.update(sealed.subarray(28), undefined, 'utf8') + decipher.final('utf8')
  }

  /** The database stores this value of the key, to notice a wrong one. */
  get identity(): string {
    return this.mac('identity', 'roomkeeper').toString('hex')
  }

  /** Caches key objects, because importing the raw bytes costs five times as much as using them. */
  #key(purpose: Purpose): KeyObject {
    let key = this.#keys.get(purpose)
    if (!key) {
      key = createSecretKey(Buffer.from(hkdfSync('sha256', this.#master, '', `roomkeeper ${purpose}`, 32)))
      this.#keys.set(purpose, key)
    }
    return key
  }
}

export const secretKeyVariable = 'ROOMKEEPER_SECRET_KEY'

/** Takes the key itself, for containers that get it as a variable. Errors do not repeat it. */
export function secretsOfKey(key: string): Secrets {
  if (keyPattern.test(key)) return new Secrets(Buffer.from(key, 'hex'))
  throw new StartupError(
    `${secretKeyVariable} is not a Roomkeeper secret key (64 hexadecimal digits). Give it the digits of the key file, or new ones from "openssl rand -hex 32".`,
  )
}
const keyPattern = /^[0-9a-f]{64}$/

/** Reads the key file: 32 bytes as hex. Undefined if there is none. */
export function readSecrets(file: string): Secrets | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim()
    if (!keyPattern.test(text)) {
      throw new StartupError(
        `${file} is not a Roomkeeper secret key (64 hexadecimal digits). Restore it from a backup.`,
      )
    }
    return new Secrets(Buffer.from(text, 'hex'))
  } catch (error) {
    if (error instanceof StartupError) throw error
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new StartupError(`Cannot read the secret key ${file} (${(error as NodeJS.ErrnoException).code}).`)
    }
  }
  return undefined
}

/** Reads a key file that must be there. */
export function loadSecrets(file: string): Secrets {
  const secrets = readSecrets(file)
  if (secrets) return secrets
  throw new StartupError(
    `The secret key ${file} is missing, but the database was made with one. Name where it is with --data-dir or --secret-key-file, or restore it from a backup.`,
  )
}

/** A new key in a file beside its place, readable by its owner only. It counts once it is in place. */
export interface SecretsDraft {
  readonly secrets: Secrets
  /** A key that is there already stays as it is: another start may have adopted the draft. */
  putInPlace(): void
  remove(): void
}

const draftSuffix = '.draft'

/** The complete draft is linked into place, so that a crash leaves no empty key, and of two starts one wins. */
export function draftSecrets(file: string): SecretsDraft {
  const master = randomBytes(32)
  const draft = `${file}.${randomBytes(4).toString('hex')}${draftSuffix}`
  try {
    writeFileSync(draft, `${master.toString('hex')}\n`, { mode: 0o600, flush: true })
  } catch (error) {
    throw new StartupError(`Cannot write the secret key ${file} (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    })
  }
  return {
    secrets: new Secrets(master),
    putInPlace: () => link(draft, file),
    remove: () => rmSync(draft, { force: true }),
  }
}

/** A crash may have left the key of a database as a draft. Puts the draft with this identity in place, if there is one. */
export function adoptDraft(file: string, identity: string): Secrets | undefined {
  const folder = dirname(file)
  const names = existsSync(folder) ? readdirSync(folder) : []
  for (const name of names) {
    if (!name.startsWith(`${basename(file)}.`) || !name.endsWith(draftSuffix)) continue
    const draft = join(folder, name)
    const secrets = readSecrets(draft)
    if (secrets?.identity !== identity) continue
    link(draft, file)
    rmSync(draft, { force: true })
    return secrets
  }
  return undefined
}

function link(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (existsSync(file)) return
    throw new StartupError(`Cannot write the secret key ${file} (${code}).`, { cause: error })
  }
}

// The two challenges of PJLink: what a client sends in front of a command to prove that it knows the password.
import { createHash, randomBytes } from 'node:crypto'

export const md5Digest = (random: string, password: string): string =>
  createHash('md5').update(`${random}${password}`).digest('hex')

/** The form of version 2.10. Both random texts are 32 hexadecimal digits. */
export function sha256Digest(theirs: string, password: string, own = randomBytes(16).toString('hex')): string {
  const ownBytes = Buffer.from(own, 'hex')
  const mixed = Buffer.from(Buffer.from(theirs, 'hex').map((byte, i) => byte ^ (ownBytes[i] ?? 0)))
  return (
    own +
    createHash('sha256')
      .update(`${mixed.toString('hex')}${password}`)
      .digest('hex')
  )
}

// A self-signed certificate, as devices make one for themselves. Node cannot make one, so this writes the DER of RFC 5280.
import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto'
import { dayMs } from '../../contract/durations.ts'

export interface SelfSigned {
  /** PEM. */
  readonly cert: string
  readonly key: string
  /** SHA-256, as Node writes it. */
  readonly fingerprint: string
}

/** A certificate for 127.0.0.1 and its key. */
export function makeSelfSigned({ lifetimeDays = 1, commonName = 'Roomkeeper test' } = {}): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const der = (tag: number, ...parts: Buffer[]) => {
    const body = Buffer.concat(parts)
    const { length } = body
    const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
    return Buffer.concat([Buffer.from([tag, ...size]), body])
  }
  const [sequence, set, integer, bits, octets, text, time] = [0x30, 0x31, 0x02, 0x03, 0x04, 0x0c, 0x17] as const
  const hex = (digits: string) => Buffer.from(digits, 'hex')
  const ecdsaWithSha256 = der(sequence, hex('06082a8648ce3d040302'))
  const commonNameId = hex('0603550403')
  const subjectAltNameId = hex('0603551d11')
  const name = der(sequence, der(set, der(sequence, commonNameId, der(text, Buffer.from(commonName)))))
  const at = (ms: number) => der(time, Buffer.from(`${new Date(ms).toISOString().replaceAll(/\D/g, '').slice(2, 14)}Z`))
  const body = der(
    sequence,
    der(0xa0, der(integer, hex('02'))),
    der(integer, hex('01')),
    ecdsaWithSha256,
    name,
    der(sequence, at(Date.now() - 2 * dayMs), at(Date.now() + lifetimeDays * dayMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(sequence, der(sequence, subjectAltNameId, der(octets, der(sequence, der(0x87, hex('7f000001'))))))),
  )
  const whole = der(sequence, body, ecdsaWithSha256, der(bits, hex('00'), sign('sha256', body, privateKey)))
  const cert = `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { cert, key, fingerprint: new X509Certificate(cert).fingerprint256 }
}

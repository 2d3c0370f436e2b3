// Checks of the certificate that the server would use.
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { dayMs } from '../../contract/durations.ts'
import type { ServeOptions } from '../../server/config/server-options.ts'
import { readTlsFiles } from '../../server/http/server-certificate.ts'
import { countText } from '../../server/maintenance/count-text.ts'
import { type DoctorFinding, failed, ok, reasonOf, warning } from './finding.ts'

const renewDays = 14

export function checkCertificate(options: ServeOptions, now: number): DoctorFinding {
  const subject = 'certificate'
  const isProxied = options.publicUrl?.startsWith('https:') === true
  try {
    const tls = readTlsFiles(options)
    if (!tls) {
      return isProxied
        ? ok(subject, 'None is set: the proxy of the public address has it.')
        : warning(
            subject,
            'None is set: API keys and credentials are sent unencrypted. Use --tls-cert and --tls-key, or an HTTPS proxy.',
          )
    }
    const certificate = new X509Certificate(tls.cert)
    const days = Math.floor((certificate.validToDate.getTime() - now) / dayMs)
    const until = certificate.validToDate.toISOString().slice(0, 10)
    if (certificate.validFromDate.getTime() > now) {
      return failed(
        subject,
        `It is valid only from ${certificate.validFromDate.toISOString()}. Check the clock, or the certificate.`,
      )
    }
    if (days < 0) return failed(subject, `It expired on ${until}. Renew it.`)
    const host = new URL(options.publicUrl ?? 'https://localhost').hostname.replace(/^\[|\]$/g, '')
    const fits = isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)
    if (options.publicUrl !== undefined && !fits) {
      return failed(subject, `It is not for ${host}, the host of --public-url. Get one for that name.`)
    }
    if (days < renewDays)
      return warning(subject, `It is valid for ${countText(days, 'more day', 'more days')}, until ${until}. Renew it.`)
    if (certificate.checkIssued(certificate)) {
      return warning(
        subject,
        `It is valid until ${until}, but self-signed: browsers and devices must be told to trust it.`,
      )
    }
    return ok(subject, `It is valid for ${countText(days, 'more day', 'more days')}, until ${until}.`)
  } catch (error) {
    return failed(subject, reasonOf(error))
  }
}

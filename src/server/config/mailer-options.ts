// Derives from the options how e-mail is sent.
import { StartupError } from '../core/failure.ts'
import type { MailerOptions } from '../outbound/mailer.ts'
import type { ServeOptions } from './server-options.ts'

/** Undefined if no e-mail is sent. */
export function mailerOptionsOf({
  smtpUrl,
  smtpFrom,
}: Pick<ServeOptions, 'smtpUrl' | 'smtpFrom'>): MailerOptions | undefined {
  if (smtpUrl === undefined && smtpFrom === undefined) return undefined
  if (smtpUrl === undefined || smtpFrom === undefined) {
    throw new StartupError('--smtp-url and --smtp-from belong together. Set both, or neither.')
  }
  return { smtpUrl, smtpFrom }
}

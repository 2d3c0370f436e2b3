// The pages that people see when a sign-in at the provider did not lead into the console.
import type { FastifyReply } from 'fastify'
import { pageHeaders } from '../../../http/browser/page-headers.ts'
import { brand, plainStyle, sourceHash } from '../../../http/browser/plain-page.ts'
import type { AdmissionDecision, AdmissionRefusal } from './admission.ts'
import type { ProviderIdentity } from './identity-claims.ts'
import type { ProviderReason } from './provider-error.ts'

const policy = `default-src 'none'; style-src ${sourceHash(plainStyle)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

export interface ProviderPage {
  readonly status: number
  readonly title: string
  readonly sentences: readonly string[]
  readonly facts?: readonly (readonly [name: string, value: string])[]
  /** The target of the link, relative to the public address. */
  readonly link?: readonly [text: string, path: string]
}

export function sendPage(
  reply: FastifyReply,
  publicPath: string,
  { status, title, sentences, facts, link }: ProviderPage,
) {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Roomkeeper: ${escaped(title)}</title>
<style>${plainStyle}</style>
</head>
<body>
<main class="card">
${brand}
<h1>${escaped(title)}</h1>
${sentences.map((sentence) => `<p>${escaped(sentence)}</p>`).join('\n')}
${facts ? `<dl>${facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join('')}</dl>` : ''}
${link ? `<p><a href="${escaped(publicPath + link[1])}">${escaped(link[0])}</a></p>` : ''}
</main>
</body>
</html>`
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .headers({ ...pageHeaders(policy), 'Cache-Control': 'no-store' })
    .send(html)
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const signInLink = ['Go to the sign-in page', '/sign-in'] as const

/** An organisation that does not exist has this page too, so that visitors cannot find out which ones do. */
export const notSetUpPage: ProviderPage = {
  status: 404,
  title: 'No sign-in with a company account',
  sentences: ['Sign-in with a company account is not set up here. Sign in with a passkey or a link, or ask an owner.'],
  link: signInLink,
}

export const brokenFlowPage: ProviderPage = {
  status: 400,
  title: 'Start again',
  sentences: [
    'This sign-in was not begun in this browser, took longer than ten minutes, or the sign-in settings have changed. Start again from the sign-in page.',
  ],
  link: signInLink,
}

export const tooManyPage: ProviderPage = {
  status: 429,
  title: 'Too many attempts',
  sentences: ['There were too many failed attempts from this address. Wait a minute, then try again.'],
}

/** The error of the provider is one word and its host. */
export const providerErrorPage = (host: string, reason: ProviderReason): ProviderPage => ({
  status: 502,
  title: 'The sign-in did not work',
  sentences: [
    `The company account could not be used (${host}: ${reason}). Try again; if it fails again, tell an owner the text in brackets.`,
  ],
  link: signInLink,
})

const refusals: Readonly<Record<AdmissionRefusal, string>> = {
  disabled: 'Your account here is disabled. Ask an owner of the organisation to enable it.',
  'no group':
    'None of your groups has access here. Ask an owner of the organisation, or the people who manage your groups.',
  'no address':
    'Your company account has no e-mail address that can be used here. Ask an owner of the organisation to invite you by a link.',
  'unverified address':
    'The e-mail address of your company account is not verified. Ask an owner of the organisation to invite you by a link.',
  'other identity':
    'Your e-mail address is linked to another company account. Ask an owner of the organisation to remove that link.',
  owner:
    'Owners add their company account themselves. Sign in with your link or passkey, then choose "Add company account" in My profile.',
  'not invited':
    'You are not invited to sign in with a company account. Ask an owner of the organisation to invite you.',
  unknown: 'There is no account with your e-mail address here. Ask an owner of the organisation to invite you.',
}

export const refusedPage = (reason: AdmissionRefusal): ProviderPage => ({
  status: 403,
  title: 'You cannot sign in here yet',
  sentences: [refusals[reason]],
  link: signInLink,
})

function outcomeOf(decision: AdmissionDecision): string {
  switch (decision.kind) {
    case 'known':
      return decision.user.email
    case 'link':
      return `${decision.user.email} (the first sign-in links the company account)`
    case 'create':
      return 'a new user'
    case 'refuse':
      return 'no account'
  }
}

export function testPage(identity: ProviderIdentity, decision: AdmissionDecision, isPassed: boolean): ProviderPage {
  const role =
    decision.kind === 'refuse' ? undefined : decision.kind === 'create' ? decision.grant.role : decision.user.role
  return {
    status: 200,
    title: isPassed ? 'The test has passed' : 'The provider works, but you would not sign in as an owner',
    sentences: [
      isPassed
        ? 'You can turn on company accounts within the next hour. Close this page and go back to the settings.'
        : 'Company accounts can be turned on after an owner has passed the test. Nothing was changed.',
    ],
    facts: [
      ['Issuer', identity.issuer],
      ['Subject', identity.subject],
      ['E-mail', `${identity.email ?? 'none'}${identity.emailVerified ? ' (verified)' : ' (not verified)'}`],
      ['Groups', identity.groups.join(', ') || 'none'],
      ['Signs in as', outcomeOf(decision)],
      ...(role ? [['Role', role] as const] : []),
      ...(decision.kind === 'refuse' ? [['Why', refusals[decision.reason]] as const] : []),
    ],
  }
}

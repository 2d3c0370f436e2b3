// Sends a message to an incoming webhook of Slack. [contract 10.channel]
import type { OutgoingMessage } from './message.ts'
import type { Outcome } from './outcome.ts'
import { postJson } from './post-json.ts'
import type { SenderTools, SendRequest } from './sender.ts'
import { linksOf, messageTextOf } from './texts.ts'

export function sendToSlack({ fetch }: SenderTools, { message, secrets, now, signal }: SendRequest): Promise<Outcome> {
  const body = JSON.stringify({ text: slackText(message), unfurl_links: false, unfurl_media: false })
  return postJson(fetch, { url: secrets.url ?? '', body, now, signal })
}

function slackText(message: OutgoingMessage): string {
  const { headline, summary, facts, advice } = messageTextOf(message)
  const links = linksOf(message).map(({ text, url }) => `<${escapeText(url).replaceAll('|', '%7C')}|${text}>`)
  const lines = [
    `*${escapeText(headline)}*`,
    ...(summary === undefined ? [] : [escapeText(summary)]),
    ...facts.map(([label, value]) => `${label}: ${escapeText(value)}`),
    ...(advice === undefined ? [] : [escapeText(advice)]),
    links.join(' · '),
  ]
  return lines.join('\n')
}

/** With these three characters escaped, a text contains no link and no mention such as <!channel>. */
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

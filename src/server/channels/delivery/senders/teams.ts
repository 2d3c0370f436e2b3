// Sends a message as an Adaptive Card to a Workflow of Microsoft Teams. [contract 10.channel]
import type { OutgoingMessage } from './message.ts'
import type { Outcome } from './outcome.ts'
import { postJson } from './post-json.ts'
import type { SenderTools, SendRequest } from './sender.ts'
import { linksOf, messageTextOf } from './texts.ts'

export function sendToTeams({ fetch }: SenderTools, { message, secrets, now, signal }: SendRequest): Promise<Outcome> {
  const attachment = {
    contentType: 'application/vnd.microsoft.card.adaptive',
    contentUrl: null,
    content: card(message),
  }
  const body = JSON.stringify({ type: 'message', attachments: [attachment] })
  return postJson(fetch, { url: secrets.url ?? '', body, now, signal })
}

/** The runs of a RichTextBlock are shown as they are. A TextBlock would read Markdown, and with it links, in the names of rooms. */
function card(message: OutgoingMessage): object {
  const { headline, summary, facts, advice } = messageTextOf(message)
  const line = (...inlines: object[]) => ({ type: 'RichTextBlock', inlines })
  const run = (text: string, style = {}) => ({ type: 'TextRun', text, ...style })
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      line(run(headline, { weight: 'Bolder', size: 'Medium' })),
      ...(summary === undefined ? [] : [line(run(summary))]),
      ...facts.map(([label, value]) => line(run(`${label}: `, { isSubtle: true }), run(value))),
      ...(advice === undefined ? [] : [line(run(advice))]),
    ],
    actions: linksOf(message).map(({ text, url }) => ({ type: 'Action.OpenUrl', title: text, url })),
  }
}

// HTML that cannot forget to escape: only what this tag has made is taken as markup.

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | undefined | false | readonly Part[]

/** The indentation of our own source is not worth sending. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.map((own, i) => own.replaceAll(/\n\s*/g, '\n') + render(parts[i])).join(''))

function render(part: Part): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(render).join('')
  return escape(String(part))
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export const join = (parts: readonly (Html | string)[], between: string): Html =>
  html`${parts.map((part, i) => (i === 0 ? part : [between, part]))}`

/** The contract's sentences mark code with backticks. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`

export const code = (text: string): Html => html`<code>${text}</code>`

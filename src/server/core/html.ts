// Builds HTML with a template tag that escapes every value except those that it has made itself.

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | undefined | false | readonly Part[]

/** Removes the indentation of the source, which would only make the page larger. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.map((own, i) => own.replaceAll(/\n\s*/g, '\n') + render(parts[i])).join(''))

function render(part: Part): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(render).join('')
  return escaped(String(part))
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export const join = (parts: readonly (Html | string)[], between = ', '): Html =>
  html`${parts.map((part, i) => (i === 0 ? part : [between, part]))}`

/** The contract's sentences mark code with backticks. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`

/** Allows line breaks between the words of a long name. */
export const breakable = (name: string): Html =>
  html`${name.split(/(?<=[a-z.])(?=[A-Z])/).map((word, i) => [i > 0 && html`<wbr>`, word])}`

export const code = (text: string): Html => html`<code>${text}</code>`

export const codes = (texts: readonly string[]): Html => join(texts.map(code))

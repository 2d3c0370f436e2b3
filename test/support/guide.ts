// The examples of a guide in docs/, for tests that run them.
import { readFileSync } from 'node:fs'

/** The texts of a guide's blocks in one language. */
export const guideBlocks = (guide: string, language: string): string[] => {
  const text = readFileSync(new URL(`../../docs/${guide}`, import.meta.url), 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block)
}

export interface GuideCommand {
  /** The words after the prompt. */
  readonly line: string
  readonly output: string
}

/** The commands of a transcript, each with what it prints. */
export const commandsIn = (transcript: string): GuideCommand[] =>
  transcript
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [line = '', ...output] = text.trimEnd().split('\n')
      return { line, output: output.join('\n') }
    })

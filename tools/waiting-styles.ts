// Loads the style sheets of the console's document without holding back the first paint, as a plugin for bundles.
import type { Plugin } from 'vite'

/**
 * Browsers paint nothing before the style sheets in the head have arrived, so these apply to no medium until the entry script turns them on
 * (applyStyles in main.tsx). They stay in the head: the styles of the theme and of pages, which are added later, must come after them.
 */
export const waitingStyles: Plugin = {
  name: 'waiting-styles',
  transformIndexHtml: {
    order: 'post',
    handler: (html) =>
      html.replaceAll(
        /<link rel="stylesheet"([^>]*)>/g,
        '<link rel="preload" as="style"$1>\n    <link rel="stylesheet" media="not all"$1>',
      ),
  },
}

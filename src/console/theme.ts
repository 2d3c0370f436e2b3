// The Mantine theme of the console: one palette with enough contrast in light and dark mode.
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple, rem } from '@mantine/core'
import { focusTitleIfLost } from './parts/page/page.tsx'

const fjord: MantineColorsTuple = [
  '#e9f6f8',
  '#d5e9ed',
  '#a9d3db',
  '#7bbcc9',
  '#56a9b9',
  '#3f9daf',
  '#2f8fa2',
  '#1c7688',
  '#12606f',
  '#0a4b58',
]

/** Greys with a touch of the panels' blue, from text to background; Mantine's own are neutral. */
const dark: MantineColorsTuple = [
  '#d6dde2',
  '#b8c2ca',
  '#a3adb6',
  '#77838d',
  '#3b454c',
  '#343d44',
  '#252d32',
  '#1b2125',
  '#0f1315',
  '#0a0d0f',
]

export const theme = createTheme({
  primaryColor: 'fjord',
  colors: { fjord, dark },
  primaryShade: { light: 8, dark: 7 },
  autoContrast: true,
  defaultRadius: 'md',
  fontFamily: 'Inter, "Inter fallback", system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  // Four sizes; Mantine's names xl and above are not used.
  fontSizes: { xs: rem(12), sm: rem(14), md: rem(16), lg: rem(22), xl: rem(22) },
  lineHeights: { xs: '1.35', sm: '1.45', md: '1.5', lg: '1.3', xl: '1.3' },
  fontWeights: { regular: '400', medium: '500', bold: '600' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: rem(22), lineHeight: '1.3' },
      h2: { fontSize: rem(16), lineHeight: '1.5' },
      h3: { fontSize: rem(14), lineHeight: '1.45' },
    },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Card: { defaultProps: { withBorder: true, padding: 'md' } },
    Button: { defaultProps: { size: 'sm' } },
    // The placeholder is a focusable child that a menu may not have; without it the first item gets the focus.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // A table without buttons could not be scrolled with the keyboard.
    TableScrollContainer: { defaultProps: { scrollAreaProps: { viewportProps: { tabIndex: 0 } } } },
    Tooltip: { defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: true } } },
    // The header element of a dialog would otherwise be announced as a second banner of the page.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    Notification: {
      defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } },
      // The text under a title is too pale by default for the WCAG AA contrast.
      styles: { description: { color: 'var(--mantine-color-text)' } },
    },
    Modal: {
      defaultProps: {
        centered: true,
        closeButtonProps: { 'aria-label': 'Close' },
        onExitTransitionEnd: focusTitleIfLost,
      },
      // The title leads the labels of the fields below it.
      styles: { title: { fontSize: 'var(--mantine-font-size-md)', fontWeight: 600 } },
    },
  },
})

/** Overrides Mantine's dimmed text, which does not reach the WCAG AA contrast on its backgrounds. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#56606a',
    '--mantine-color-placeholder': '#67717b',
    '--mantine-color-error': '#c02626',
    '--rk-page': '#f5f7f8',
    '--rk-panel': '#ffffff',
    '--rk-line': '#dde3e6',
    // Text and thin lines of a state. Healthy is grey: colour is for the exception.
    '--rk-healthy': '#4f5b65',
    '--rk-degraded': '#8a5200',
    '--rk-offline': '#c02626',
    '--rk-empty': '#5f6a74',
    '--rk-running': '#12606f',
    // Badges, bars and squares of a state, and the text on them.
    '--rk-healthy-fill': '#b9c5cb',
    '--rk-degraded-fill': '#f5b73d',
    '--rk-offline-fill': '#c9282d',
    '--rk-unknown-fill': '#7d8992',
    '--rk-empty-fill': '#e3e9ec',
    '--rk-running-fill': '#2f8fa2',
    '--rk-on-degraded': '#2e1c00',
    '--rk-on-offline': '#ffffff',
    '--rk-working-hours': '#eef3f5',
    '--rk-added': '#e3f6ea',
    // Measured values: people and the use of rooms, and everything about air and light.
    '--rk-people': '#12606f',
    '--rk-air': '#4a5fa5',
    '--rk-heat': '#56a9b9',
    '--rk-bar': '#8a97a0',
    '--rk-heat-none': '#f0f3f5',
    '--rk-removed': '#fdeaea',
  },
  dark: {
    '--mantine-color-body': '#14181b',
    '--mantine-color-dimmed': '#a3adb6',
    '--mantine-color-placeholder': '#8f99a3',
    '--mantine-color-error': '#ff8080',
    '--rk-page': '#14181b',
    '--rk-panel': '#1b2125',
    '--rk-line': '#30383e',
    '--rk-healthy': '#aeb8c0',
    '--rk-degraded': '#f0b04c',
    '--rk-offline': '#ff8585',
    '--rk-empty': '#a3adb6',
    '--rk-running': '#7bbcc9',
    '--rk-healthy-fill': '#505c65',
    '--rk-degraded-fill': '#eda93a',
    '--rk-offline-fill': '#f06a6a',
    '--rk-unknown-fill': '#8b97a0',
    '--rk-empty-fill': '#2b3339',
    '--rk-running-fill': '#3f9daf',
    '--rk-on-degraded': '#241600',
    '--rk-on-offline': '#1f0505',
    '--rk-working-hours': '#232b30',
    '--rk-added': '#16351f',
    '--rk-people': '#7bbcc9',
    '--rk-air': '#9db0ea',
    '--rk-heat': '#12606f',
    '--rk-bar': '#6b7780',
    '--rk-heat-none': '#232b30',
    '--rk-removed': '#43201f',
  },
})

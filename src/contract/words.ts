// Turns identifiers into text (LOCATION_CREATED into "Location created", nightMode into "Night mode"), and texts into one line.

/** Acronyms that keep their capitals, by their lower-case form. */
const acronyms = new Map(
  ['API', 'CEC', 'HDMI', 'ID', 'NTP', 'OTA', 'USB', 'BYOD', 'PBP', 'FOV', 'CO2', 'VOC'].map((w) => [
    w.toLowerCase(),
    w,
  ]),
)

/** An audit type, an enum value or a config key as readable text. */
export function humanize(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s_]+/)
    .map((word) => acronyms.get(word.toLowerCase()) ?? word.toLowerCase())
    .join(' ')
  return capitalised(words)
}

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Line breaks and control characters would start a header or a line of their own. Marks of direction would reverse what follows. */
export const oneLine = (text: string | undefined): string =>
  withoutDirectionMarks(text ?? '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()

export const withoutDirectionMarks = (text: string): string =>
  text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')

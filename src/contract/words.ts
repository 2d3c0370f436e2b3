// Turns identifiers into text: LOCATION_CREATED into "Location created", nightMode into "Night mode".

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

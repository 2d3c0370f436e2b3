// Words for machines' names: LOCATION_CREATED as "Location created", nightMode as "Night mode".

/** The acronyms that stay as they are. */
const acronyms = new Map(
  ['API', 'CEC', 'HDMI', 'ID', 'NTP', 'OTA', 'USB', 'BYOD', 'PBP', 'FOV', 'CO2', 'VOC'].map((w) => [
    w.toLowerCase(),
    w,
  ]),
)

/** A name of an audit type, an enum or a config key, as a person would write it. */
export function humanize(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[\s_]+/)
    .map((word) => acronyms.get(word.toLowerCase()) ?? word.toLowerCase())
  return capitalised(words.join(' '))
}

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const plural = (count: number, one: string, many: string = `${one}s`): string =>
  `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`

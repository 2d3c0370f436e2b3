// Names for simulated sites and rooms: regions, cities with time zones, and room names.

interface City {
  readonly name: string
  readonly timezone: string
}
const city = (name: string, timezone: string): City => ({ name, timezone })

export const regionsWithCities: readonly { readonly name: string; readonly cities: readonly City[] }[] = [
  {
    name: 'Europe',
    cities: [
      city('Oslo', 'Europe/Oslo'),
      city('London', 'Europe/London'),
      city('Berlin', 'Europe/Berlin'),
      city('Amsterdam', 'Europe/Amsterdam'),
      city('Stockholm', 'Europe/Stockholm'),
      city('Paris', 'Europe/Paris'),
      city('Madrid', 'Europe/Madrid'),
      city('Warsaw', 'Europe/Warsaw'),
    ],
  },
  {
    name: 'Americas',
    cities: [
      city('New York', 'America/New_York'),
      city('San Francisco', 'America/Los_Angeles'),
      city('Chicago', 'America/Chicago'),
      city('Toronto', 'America/Toronto'),
      city('São Paulo', 'America/Sao_Paulo'),
      city('Mexico City', 'America/Mexico_City'),
      city('Denver', 'America/Denver'),
    ],
  },
  {
    name: 'Asia Pacific',
    cities: [
      city('Tokyo', 'Asia/Tokyo'),
      city('Singapore', 'Asia/Singapore'),
      city('Sydney', 'Australia/Sydney'),
      city('Seoul', 'Asia/Seoul'),
      city('Mumbai', 'Asia/Kolkata'),
      city('Auckland', 'Pacific/Auckland'),
    ],
  },
  {
    name: 'Middle East and Africa',
    cities: [
      city('Dubai', 'Asia/Dubai'),
      city('Cape Town', 'Africa/Johannesburg'),
      city('Nairobi', 'Africa/Nairobi'),
      city('Cairo', 'Africa/Cairo'),
    ],
  },
]

/** The room names of one location; further rooms get these names with a number. */
export const roomNames: readonly string[] = [
  ...['Fjord', 'Aurora', 'Birch', 'Glacier', 'Harbour', 'Lighthouse', 'Meadow', 'Cedar', 'Summit', 'Delta'],
  ...['Lagoon', 'Prairie', 'Canyon', 'Willow', 'Comet', 'Orchard', 'Tundra', 'Quarry', 'Heron', 'Maple'],
  ...['Kestrel', 'Mosaic', 'Juniper', 'Atlas', 'Beacon', 'Coral', 'Dune', 'Ember', 'Fern', 'Grove'],
]

/** The n-th name of the list; after its end the names repeat with a number. */
export const numberedName = (names: readonly string[], n: number): string => {
  const round = Math.floor(n / names.length)
  return `${names[n % names.length]}${round > 0 ? ` ${round + 1}` : ''}`
}

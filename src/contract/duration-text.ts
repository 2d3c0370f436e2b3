// Formats durations with two units: "3 h 12 min".

/** Seconds are shown only for the first minute. */
export function durationText(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return twoUnits(`${hours} h`, minutes % 60, 'min')
  return twoUnits(`${Math.floor(hours / 24)} days`, hours % 24, 'h')
}

const twoUnits = (large: string, rest: number, unit: string) => (rest === 0 ? large : `${large} ${rest} ${unit}`)

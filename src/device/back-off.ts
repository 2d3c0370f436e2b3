// How long to wait before trying again: doubling up to a minute, never the same for two devices.
export const longestPause = 60_000

/** Jitter comes after the cap: before it, all that wait longest would wait equally long and return together. */
export const pauseAfter = (failures: number, random = Math.random()): number =>
  Math.min(longestPause, 1_000 * 2 ** failures) * (0.5 + random / 2)

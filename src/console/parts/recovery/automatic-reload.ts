// Reloads the console without being asked, at most once in a while, so that a reload that does not help is not repeated.

const storageKey = 'roomkeeper-automatic-reload'
const minReloadIntervalMs = 5 * 60_000

/** Storage is per tab and survives the reload. Without it the console could not know that it has just reloaded. */
export function canReloadByItself(nowMs = Date.now()): boolean {
  try {
    const lastMs = Number(sessionStorage.getItem(storageKey) ?? Number.NEGATIVE_INFINITY)
    return nowMs - lastMs > minReloadIntervalMs || nowMs < lastMs
  } catch {
    return false
  }
}

export function reloadByItself(): void {
  sessionStorage.setItem(storageKey, String(Date.now()))
  location.reload()
}

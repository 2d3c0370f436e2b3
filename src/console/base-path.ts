// The path under which a proxy serves the console, taken from the address of its own entry script. [contract 9.prefix]

let known: string | undefined
/**
 * Ends with a slash: `/`, or `/rooms/` behind a proxy that strips `/rooms`. The entry script lies one folder below it. It is read once, when
 * the router is made: the browser resolves the relative address of the script against the page that is open now.
 */
const basePath = (): string => {
  if (known !== undefined) return known
  const entry = document.querySelector<HTMLScriptElement>('script[type="module"][src]')
  known = new URL('..', entry?.src ?? location.origin).pathname
  return known
}

/** The address of the service, without a slash at its end. */
export const serverUrl = (): string => location.origin + basePath().slice(0, -1)

/** The address of a path of the service, such as `/docs`. */
export const pathUnderBase = (path: `/${string}`): string => basePath() + path.slice(1)

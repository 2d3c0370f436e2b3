// The path under which a proxy serves the console, taken from the address of its own entry script. [contract 9.prefix]

/** Ends with a slash: `/`, or `/rooms/` behind a proxy that strips `/rooms`. The entry script lies one folder below it. */
const basePath = (): string => {
  const entry = document.querySelector<HTMLScriptElement>('script[type="module"][src]')
  return new URL('..', entry?.src ?? location.origin).pathname
}

/** The address of the service, without a slash at its end. */
export const serverUrl = (): string => location.origin + basePath().slice(0, -1)

/** The address of a path of the service, such as `/docs`. */
export const pathUnderBase = (path: `/${string}`): string => basePath() + path.slice(1)

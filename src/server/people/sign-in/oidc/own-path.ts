// Limits where a sign-in leads to in the end to pages of the service itself.

const anyOrigin = 'http://service.invalid'
const maxPathCharacters = 1000

/**
 * Returns the path, query and fragment that a text names on this service, and `/` if it names anything else. Browsers read
 * `//host`, `/\host` and some texts with control characters as addresses of another host, so the result of the URL parser counts.
 */
export function ownPath(text: string | undefined): string {
  if (text === undefined || text.length > maxPathCharacters || !text.startsWith('/')) return '/'
  const url = URL.parse(text, anyOrigin)
  if (url?.origin !== anyOrigin || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search + url.hash
}

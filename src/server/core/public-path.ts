// The path of the public URL: a proxy serves the whole service below it, and strips it. [contract 9.prefix]

/** Returns the path without a slash at its end: `/rooms` for https://example.org/rooms, and an empty text if there is none. */
export const publicPathOf = (publicUrl: string): string => URL.parse(publicUrl)?.pathname.replace(/\/+$/, '') ?? ''

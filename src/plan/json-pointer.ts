// Writes a key as a part of a JSON Pointer. [RFC 6901]

export const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

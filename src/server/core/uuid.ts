// What an id of an endpoint or an operation looks like: a store need not look for anything else. [contract 1.5]
const shape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Anything else names nothing; some of it, such as a NUL, PostgreSQL could not even look for. */
export const isUuid = (text: string): boolean => shape.test(text)

// Tells whether a text can be the id of an endpoint or a command. [contract 1.5]
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Other texts are not looked up: PostgreSQL would refuse some of them, such as a NUL character. */
export const isUuid = (text: string): boolean => uuid.test(text)

// Checks e-mail addresses as loosely as the server does.

const pattern = /^[^@\s]+@[^@\s]+$/

export const isEmailAddress = (text: string): boolean => pattern.test(text.trim())

// Writes a number with its noun in the singular or plural.
export const countText = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

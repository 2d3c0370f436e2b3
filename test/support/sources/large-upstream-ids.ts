// The identifiers of the devices that large-upstream.ts has.
export const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
export const deviceId = (i: number): string => `d0000000-0000-4000-8000-${String(i).padStart(12, '0')}`

// Chooses how much a test tries, or how large its fleet is: little in `npm test`, much in `npm run test:long`.

const isLong = process.env.TEST_LONG === '1'

/** Returns the number that counts in this test run. */
export const runCount = (counts: { readonly short: number; readonly long: number }): number =>
  isLong ? counts.long : counts.short

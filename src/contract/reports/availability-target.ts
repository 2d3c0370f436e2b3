// Compares an availability with the target; the service, mails and the console decide by it. [contract 16.availability]

/** Six decimals: a second of 11 days. */
export const roundedAvailability = (share: number): number => Number(share.toFixed(6))

/** The target, in percent, is compared with the figure of six decimals that answers have. */
export const isTargetMet = (share: number, targetPercent: number): boolean =>
  roundedAvailability(share) * 100 >= targetPercent - 1e-9

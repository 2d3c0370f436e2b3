// The twenty ways in which real projectors deviate from PJLink or from each other, as switches of the fake projector.

/** All are off by default. The numbers are cited by the tests of the driver. */
export interface ProjectorQuirks {
  /** 1: commands after the first are refused without the digest (`every`) or with it (`first`). Both are accepted by default. */
  readonly digest?: 'every' | 'first'
  /** 2: refuses the second command of a connection that it has accepted, with ERRA, this many times. */
  readonly refusesGoodConnections?: number
  /** 3: the random text of the challenge is not hexadecimal. */
  readonly oddRandom?: boolean
  /** 4: the reaction to `PJLINK 2`; `answered` is version 2.10, the others are older. */
  readonly sha256?: 'answered' | 'erra' | 'closes' | 'silent'
  /** 5: closes a connection after this time without a command; 30 s by default. */
  readonly idleCloseMs?: number
  /** 6: the form of what it sends. `pairs` repeats the previous answer in the same packet. */
  readonly framing?: readonly ('nul' | 'lowerCase' | 'crLf' | 'halves' | 'pairs')[]
  /** 7: commands that it answers with ERR3 in standby. */
  readonly notInStandby?: readonly string[]
  /** 8: says ERR2 where ERR3 is meant. */
  readonly err2ForErr3?: boolean
  /** 9: accepts connections but says nothing for this time after a change of power. */
  readonly silentAfterPowerMs?: number
  /** 10: POWR is never 2 or 3. */
  readonly neverChanging?: boolean
  /** 11: answers ERR1 to LAMP, as projectors with a laser do. */
  readonly noLamp?: boolean
  /** 12: knows AVMT 30 and 31 only. */
  readonly onlyFullMute?: boolean
  /** 12: ERST is always 000000. */
  readonly noErrors?: boolean
  /** 13: commands that it answers with ERR1 in class 2, though CLSS is 2. */
  readonly lacksInClass2?: readonly string[]
  /** 14: INFO is empty. */
  readonly emptyInformation?: boolean
  /** 14: NAME is in Latin-1. */
  readonly latin1?: boolean
  /** 15: INPT has more than two characters. */
  readonly longInput?: string
  /** 16: closes a second connection immediately. */
  readonly oneConnection?: boolean
  /** 16: hangs until its power is cut, if a command comes sooner than this after the last answer. */
  readonly hangsWithinMs?: number
  /** 17: does not answer this question of a connection, counted from 1; then answers each question with the answer to the previous one. */
  readonly lagsFrom?: number
  /** 18: what happens in standby: the port is shut, or the host is gone, which looks like connections that stay silent. */
  readonly leavesInStandby?: 'port' | 'host'
  /** 19: switches itself on again after cooling. */
  readonly onAgainAfterCooling?: boolean
  /** 20: this password of its web page is the password of PJLink too; empty means that PJLink asks for none. */
  readonly webPassword?: string
}

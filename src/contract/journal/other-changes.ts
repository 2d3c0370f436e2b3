// The audited changes that are no operations of the API, and the kinds of all audited changes. [contract 5.4.audit]
import type { Operation } from '../operation.ts'
import { operations } from '../operations.ts'

/** Actions of a device. */
const deviceChanges = {
  deviceEnrolled: { category: 'DEVICE', type: 'DEVICE_ENROLLED' },
  deviceEnrolmentRefused: { category: 'DEVICE', type: 'DEVICE_ENROLMENT_REFUSED' },
  deviceHasNoSettings: { category: 'DEVICE', type: 'DEVICE_PROFILE_REMOVED' },
} as const

/** These changes are made by the command line. */
const cliChanges = {
  orgCreate: { category: 'ORG', type: 'ORG_CREATED' },
  settingsSet: { category: 'ORG', type: 'SETTING_UPDATED' },
} as const

/** These changes are sign-ins and sign-outs of the console, and changes of a person's own sessions and passkeys. [contract 9.session] [contract 11.local] */
const consoleChanges = {
  sessionStart: { category: 'USER', type: 'SESSION_STARTED' },
  sessionEnd: { category: 'USER', type: 'SESSION_ENDED' },
  sessionRevoke: { category: 'USER', type: 'SESSION_REVOKED' },
  signInRefuse: { category: 'USER', type: 'SIGN_IN_REFUSED' },
  passkeyAdd: { category: 'USER', type: 'PASSKEY_ADDED' },
  passkeyRemove: { category: 'USER', type: 'PASSKEY_REMOVED' },
  loginLinkCreate: { category: 'USER', type: 'LOGIN_LINK_CREATED' },
} as const

/** These changes come with a sign-in at an identity provider, or with its end there. [contract 11.oidc] */
const providerChanges = {
  userLink: { category: 'USER', type: 'USER_LINKED' },
  userCreateBySignIn: { category: 'USER', type: 'USER_CREATED' },
  userUpdateBySignIn: { category: 'USER', type: 'USER_UPDATED' },
  identityTestFinish: { category: 'USER', type: 'IDENTITY_TESTED' },
} as const

/** These changes are made by jobs themselves. [contract 12.states] */
const jobChanges = {
  jobStageStart: { category: 'DEVICE', type: 'JOB_STAGE_STARTED' },
  jobExtend: { category: 'DEVICE', type: 'JOB_EXTENDED' },
  jobStop: { category: 'DEVICE', type: 'JOB_STOPPED' },
  jobEnd: { category: 'DEVICE', type: 'JOB_ENDED' },
  recurringJobStop: { category: 'DEVICE', type: 'RECURRING_JOB_PAUSED' },
} as const

export const otherChanges = { ...deviceChanges, ...cliChanges, ...consoleChanges, ...providerChanges, ...jobChanges }
export type OtherChangeId = keyof typeof otherChanges

/** The kinds of all changes that are audited, such as LOCATION_CREATED. */
export const auditTypes = (): readonly string[] => [
  ...new Set([
    ...Object.values<Operation>(operations).flatMap(({ audit }) => [audit?.type ?? [], audit?.undoType ?? []].flat()),
    ...Object.values(otherChanges).map(({ type }) => type),
  ]),
]

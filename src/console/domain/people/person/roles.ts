// The names of roles and what each may do, for people. [contract 11.user]
import type { Role } from '../../../../contract/people/permissions.ts'

export const roleNames: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  operator: 'Operator',
  viewer: 'Viewer',
}

export const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'Everything, including people, keys, sign-in and notifications.',
  admin:
    'Everything an operator can do, plus settings, rooms, locations and the audit log. With all regions, also regions, profiles and incident rules.',
  operator:
    'Restart devices, send messages and collect logs, one at a time or in bulk. Work on incidents, create silences, write notes and enrol devices.',
  viewer: 'See rooms, devices, incidents and jobs. No changes.',
}

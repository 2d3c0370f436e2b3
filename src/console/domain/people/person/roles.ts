// The names of roles and what each may do, for people. [contract 11.user]
import type { Role } from '../../../../contract/people/permissions.ts'

export const roleNames: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  operator: 'Operator',
  viewer: 'Viewer',
}

export const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'Sees and changes everything, and manages people, keys, sign-in and notifications.',
  admin:
    'Changes settings, rooms and locations, also with jobs, does what an operator does, and reads the audit log. With all regions, also changes regions, profiles and incident rules.',
  operator:
    'Restarts devices, sends messages and collects logs, also with jobs. Handles incidents, creates silences, writes notes and enrols devices.',
  viewer: 'Sees rooms, devices, incidents and jobs, and changes nothing.',
}

// The names of roles and what each may do, for people. [contract 11.user]
import type { Role } from '../../../contract/people/permissions.ts'

export const roleNames: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  operator: 'Operator',
  viewer: 'Viewer',
}

export const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'Sees everything, and manages people, keys and sign-in.',
  admin:
    'Changes settings, rooms and locations, and reads the audit log. With all regions, also changes regions and profiles.',
  operator: 'Restarts devices, sends messages, collects logs, writes notes and enrols devices.',
  viewer: 'Sees rooms and devices, and changes nothing.',
}

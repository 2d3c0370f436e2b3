// The permissions of callers: those of roles and keys, and those that an operation needs. [contract 11.user]
import type { Operation } from '../operation.ts'

export const roles = ['owner', 'admin', 'operator', 'viewer'] as const
export type Role = (typeof roles)[number]

/** Scopes that a key or a person has. Write contains operate. */
export const scopes = ['read', 'operate', 'write'] as const
export type CallerScope = (typeof scopes)[number]

/** `everywhere` is the right to change what all regions share, `auditLog` the right to read the audit log. */
export type Permission = CallerScope | 'manage' | 'everywhere' | 'auditLog'
export type Permissions = Readonly<Record<Permission, boolean>>

/** One line for each role, so that a new role does not compile before its permissions are decided. */
const permissionsByRole: Readonly<Record<Role, (allRegions: boolean) => Permissions>> = {
  owner: () => ({ read: true, operate: true, write: true, manage: true, everywhere: true, auditLog: true }),
  admin: (allRegions) => ({
    read: true,
    operate: true,
    write: true,
    manage: false,
    everywhere: allRegions,
    auditLog: true,
  }),
  operator: () => ({ read: true, operate: true, write: false, manage: false, everywhere: false, auditLog: false }),
  viewer: () => ({ read: true, operate: false, write: false, manage: false, everywhere: false, auditLog: false }),
}

export const permissionsOfRole = (role: Role, allRegions: boolean): Permissions => permissionsByRole[role](allRegions)

/** The scopes as answers show them: write contains operate, which is not shown beside it. [contract 3.3] */
export const shownScopes = (has: (scope: CallerScope) => boolean): CallerScope[] =>
  scopes.filter((scope) => has(scope) && !(scope === 'operate' && has('write')))

interface KeyAttributes {
  readonly read: boolean
  readonly operate: boolean
  readonly write: boolean
  readonly manage: boolean
  /** Whether the key sees all regions. */
  readonly allRegions: boolean
}

export const permissionsOfKey = ({ read, operate, write, manage, allRegions }: KeyAttributes): Permissions => ({
  read,
  operate: operate || write,
  write,
  manage,
  everywhere: write && allRegions,
  auditLog: read,
})

/** A personal key has a permission if the key and its person both have it. */
export const permissionsOfBoth = (a: Permissions, b: Permissions): Permissions => ({
  read: a.read && b.read,
  operate: a.operate && b.operate,
  write: a.write && b.write,
  manage: a.manage && b.manage,
  everywhere: a.everywhere && b.everywhere,
  auditLog: a.auditLog && b.auditLog,
})

export const permissionNames = (permissions: Permissions): Permission[] =>
  (Object.keys(permissions) as Permission[]).filter((name) => permissions[name])

/** The permissions that an operation needs, all of them. The flags of the operation are the only place that says so. */
export const neededPermissions = ({ scope, operate, manage, everywhere, auditLog }: Operation): Permission[] => [
  operate ? 'operate' : scope,
  ...(manage ? (['manage'] as const) : []),
  ...(everywhere ? (['everywhere'] as const) : []),
  ...(auditLog ? (['auditLog'] as const) : []),
]

/** The roles that have a permission. `everywhere` needs an admin of all regions. */
export const rolesWith = (permission: Permission): Role[] =>
  roles.filter((role) => permissionsOfRole(role, true)[permission])
